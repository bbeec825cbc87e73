// Two processes of a host on one database: one leads, each accepts the other's tokens and sessions, and both have the same entries.
import { Partner } from '../../demo/partner.js';
import { cookieOf } from '../support/logins.js';
import { until } from '../support/until.js';
import type { HostOptions } from './host/options.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { BASE_URL, HostProcess, newPartner, optionsOf } from './support/host-process.js';

const PATIENCE_MS = 60_000;

describeOnEmptyDatabase('two processes, on Express and on Fastify', (database) => {
  const partner = newPartner();
  const sealingKey = Buffer.alloc(32, 7).toString('base64');
  const options = () =>
    optionsOf(partner, { server: 'express', parts: 'own', sealingKey, databaseUrl: database().url });
  const first = HostProcess.forBlock(options);
  const second = HostProcess.forBlock(() => ({ ...options(), server: 'fastify' }));

  it("accept each other's access tokens and sessions", async () => {
    const { body } = await first.exchange(partner.sign());
    expect((await second.apiMe(body['access_token'])).status).toBe(200);
    const cookie = cookieOf(await second.login(partner.sign()));
    expect((await first.call('/', { headers: { cookie } })).status).toBe(200);
  });

  it("[D59] end the product's own session if its key is revoked", async () => {
    const cookie = cookieOf(await first.login(partner.sign()));
    const status = async () => (await second.call('/', { headers: { cookie } })).status;
    expect(await status()).toBe(200);
    await database().query(
      'INSERT INTO token_exchange_trust_revocation (issuer, kid, revoked_at) VALUES ($1, $2, now())',
      [partner.issuer, partner.kid],
    );
    await until('it has heard', PATIENCE_MS, async () => (await status()) === 401);
    await database().query('UPDATE token_exchange_trust_revocation SET restored_at = now()');
    const isTaken = async () => (await second.exchange(partner.sign())).status === 200;
    await until('the key is taken again', PATIENCE_MS, isTaken);
  });

  it('have one leader, and the other process leads after the leader has ended', async () => {
    const leads = (host: HostProcess) => host.output.includes('this instance is the leader now');
    await until('one leads', PATIENCE_MS, () => leads(first));
    expect(leads(second)).toBe(false);
    await first.stop();
    await until('the other leads', PATIENCE_MS, () => leads(second));
    expect((await second.exchange(partner.sign())).status).toBe(200);
  });
});

describeOnEmptyDatabase('two processes with an entry that one of them stores', (database) => {
  const configured = newPartner();
  const added = Partner.create({ issuer: 'https://added.example', kid: 'a', audience: BASE_URL });
  const hosts: HostProcess[] = [];

  const common = optionsOf(configured, { server: 'express', parts: 'own', databaseUrl: '' });
  const start = async (storedEntries?: HostOptions['storedEntries']) => {
    const options = { ...common, databaseUrl: database().url, storedEntries };
    const host = await HostProcess.start(options);
    hosts.push(host);
    return host;
  };
  afterAll(() => Promise.all(hosts.map((host) => host.stop())));

  it('[D70][D72] both processes trust an added entry and refuse a suspended one', async () => {
    const all = (status: number) =>
      until(`each host answers ${status}`, PATIENCE_MS, async () => {
        const answers = await Promise.all(hosts.map((host) => host.exchange(added.sign())));
        return answers.every((answer) => answer.status === status);
      });
    /** The process that adds the entry trusts it before it responds. */
    const storedBy = async (host: HostProcess) => {
      await until('it is said', PATIENCE_MS, () => host.printed('stored') !== undefined);
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
    const reasonOf = (event: object = {}) => (event as { payload?: { reason?: string } }).payload?.reason;
    const isTold = () => reasonOf(first.events.at(-1)) === 'entry_suspended';
    await until('the reason is told', PATIENCE_MS, isTold);
    const changes = () => third.events.filter(({ name }) => name.endsWith('stored-entry-changed'));
    await until('the change is told', PATIENCE_MS, () => changes().length > 0);
    expect(changes()).toMatchObject([
      { payload: { entry: 'added', change: 'suspended', to: { suspended: true } } },
    ]);
    expect((await first.exchange(configured.sign())).status).toBe(200);
  });
});
