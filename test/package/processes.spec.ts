// Two processes of a host on one database: one leads, neither takes a token that the other has had.
import { until } from '../support/until.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { HostProcess, newPartner, optionsOf } from './support/host-process.js';
import type { Installation } from './support/packed-package.js';
import { preparedInstallation } from './support/packed-package.js';

const SAME_TOKENS = 50;
const LEADERSHIP_LIMIT_MS = 15_000;

let installation: Installation;
beforeAll(() => void (installation = preparedInstallation()), 180_000);

describeOnEmptyDatabase('two processes, on Express and on Fastify', (database) => {
  const partner = newPartner();
  let first: HostProcess;
  let second: HostProcess;

  beforeAll(async () => {
    const options = optionsOf(partner, { server: 'express', parts: 'own', databaseUrl: database().url });
    first = await HostProcess.start(installation, options);
    second = await HostProcess.start(installation, { ...options, server: 'fastify' });
  });
  afterAll(() => Promise.all([first.stop(), second.stop()]));

  it('lets one of fifty parallel uses pass that go to both', async () => {
    const token = partner.sign();
    const uses = Array.from({ length: SAME_TOKENS }, (_, turn) =>
      (turn % 2 ? first : second).exchange(token),
    );
    const statuses = (await Promise.all(uses)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: SAME_TOKENS - 1 }, () => 400)]);
  });

  it('takes the access tokens of the other, and its sessions', async () => {
    const { body } = await first.exchange(partner.sign());
    expect((await second.apiMe(body['access_token'])).status).toBe(200);
    const login = await second.login(partner.sign());
    const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    expect((await first.call('/', { headers: { cookie } })).status).toBe(200);
  });

  it('has one leader, and the other when that one ends', async () => {
    const leads = (host: HostProcess) => host.output.includes('this instance is the leader now');
    expect([leads(first), leads(second)]).toEqual([true, false]);
    await first.stop();
    await until('the other leads', LEADERSHIP_LIMIT_MS, () => leads(second));
    expect((await second.exchange(partner.sign())).status).toBe(200);
  });
});
