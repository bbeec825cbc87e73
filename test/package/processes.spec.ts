// Two processes of a host on one database: one leads, neither takes a token that the other has had, and both trust the same.
import { Partner } from '../../demo/partner.js';
import { until } from '../support/until.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import type { HostOptions } from './host/options.js';
import { BASE_URL, HostProcess, newPartner, optionsOf } from './support/host-process.js';
import type { Installation } from './support/packed-package.js';
import { preparedInstallation } from './support/packed-package.js';

const SAME_TOKENS = 50;
const LEADERSHIP_LIMIT_MS = 15_000;
const REVOCATION_LIMIT_MS = 10_000;
/** As soon as each process must know of a change. */
const STORED_LIMIT_MS = 10_000;

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

  it('[D61] ends an access token at both when its holder ends it at one of them', async () => {
    const { body } = await first.exchange(partner.sign());
    const token = String(body['access_token']);
    expect((await second.apiMe(token)).status).toBe(200);
    const form = { method: 'POST', body: new URLSearchParams({ token }) };
    expect((await first.call('/rest/auth/oauth/revoke', form)).status).toBe(200);
    expect((await first.apiMe(token)).status).toBe(401);
    await until(
      'the other has heard',
      REVOCATION_LIMIT_MS,
      async () => (await second.apiMe(token)).status === 401,
    );
  });

  it('[D59] ends what a revoked key signed for at both, and takes it again once it is restored', async () => {
    const { body } = await first.exchange(partner.sign());
    const token = String(body['access_token']);
    const login = await first.login(partner.sign());
    const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const key = [partner.issuer, partner.kid];
    const statuses = async (host: HostProcess) => [
      (await host.apiMe(token)).status,
      (await host.call('/', { headers: { cookie } })).status,
    ];
    expect(await statuses(second)).toEqual([200, 200]);
    const isRefused = async (host: HostProcess) => (await statuses(host)).every((status) => status === 401);
    const exchanges = async () => [
      (await first.exchange(partner.sign())).status,
      (await second.exchange(partner.sign())).status,
    ];
    await database().query(
      'INSERT INTO token_exchange_trust_revocation (issuer, kid, revoked_at) VALUES ($1, $2, now())',
      key,
    );
    await until(
      'both have heard',
      REVOCATION_LIMIT_MS,
      async () => (await isRefused(first)) && isRefused(second),
    );
    expect(await exchanges()).toEqual([400, 400]);
    await database().query(
      'UPDATE token_exchange_trust_revocation SET restored_at = now() WHERE issuer = $1 AND kid = $2',
      key,
    );
    await until('both take it again', REVOCATION_LIMIT_MS, async () =>
      (await exchanges()).every((status) => status === 200),
    );
    expect([await isRefused(first), await isRefused(second)]).toEqual([true, true]);
  });

  it('has one leader, and the other when that one ends', async () => {
    const leads = (host: HostProcess) => host.output.includes('this instance is the leader now');
    expect([leads(first), leads(second)]).toEqual([true, false]);
    await first.stop();
    await until('the other leads', LEADERSHIP_LIMIT_MS, () => leads(second));
    expect((await second.exchange(partner.sign())).status).toBe(200);
  });
});

describeOnEmptyDatabase('two processes and an entry that one of them stores', (database) => {
  const configured = newPartner();
  const added = Partner.create({ issuer: 'https://added.example', kid: 'a', audience: BASE_URL });
  const hosts: HostProcess[] = [];

  const common = optionsOf(configured, { server: 'express', parts: 'own', databaseUrl: '' });
  const start = async (storedEntries?: HostOptions['storedEntries']) => {
    const options = { ...common, databaseUrl: database().url, storedEntries };
    const host = await HostProcess.start(installation, options);
    hosts.push(host);
    return host;
  };
  afterAll(() => Promise.all(hosts.map((host) => host.stop())));

  it('[D70][D71][D72] trusts it in both, and suspends it in both', async () => {
    const all = (status: number) =>
      until(`each host answers ${status}`, STORED_LIMIT_MS, async () => {
        const answers = await Promise.all(hosts.map((host) => host.exchange(added.sign())));
        return answers.every((answer) => answer.status === status);
      });
    /** The entry is trusted before the host that has added it says so. */
    const storedBy = async (host: HostProcess) => {
      await until('it is said', STORED_LIMIT_MS, () => host.printed('stored') !== undefined);
      return host.printed('stored');
    };
    const first = await start();
    await all(400);
    const second = await start({ add: added.staticEntry({ name: 'added' }) });
    await all(200);
    expect(await storedBy(second)).toBe('[["added","trusted"]]');
    const third = await start({ suspend: 'added' });
    await all(400);
    expect(await storedBy(third)).toBe('[["added","suspended"]]');
    expect(first.events.at(-1)).toMatchObject({ payload: { reason: 'entry_suspended' } });
    const changes = third.events.filter(({ name }) => name.endsWith('stored-entry-changed'));
    expect(changes).toMatchObject([
      { payload: { entry: 'added', change: 'suspended', to: { isSuspended: true } } },
    ]);
    expect((await first.exchange(configured.sign())).status).toBe(200);
  });
});
