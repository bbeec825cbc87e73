// A host starts in every way that Nest has, or gets an error that says why it cannot.
import { until } from '../support/until.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import type { Wishes } from './support/host-process.js';
import { HostProcess, newPartner, optionsOf } from './support/host-process.js';

const SERVERS = [{ server: 'express' }, { server: 'fastify' }] as const;

describeOnEmptyDatabase('a host starts', (database) => {
  const partner = newPartner();
  let host: HostProcess | undefined;

  const start = async (wishes: Omit<Wishes, 'databaseUrl'>, program?: string) => {
    const options = optionsOf(partner, { databaseUrl: database().url, ...wishes });
    host = await HostProcess.start(options, program);
    return host;
  };
  afterEach(async () => {
    await host?.stop();
    await database().query('DROP SCHEMA public CASCADE');
    await database().query('CREATE SCHEMA public');
  });

  it.each(SERVERS)('on $server with registerAsync and injected settings', async ({ server }) => {
    const started = await start({ server, parts: 'defaults', isAsync: true });
    const { status, body } = await started.exchange(partner.sign());
    expect(status).toBe(200);
    expect((await started.apiMe(body['access_token'])).status).toBe(200);
  });

  it.each<Pick<Wishes, 'server' | 'dataSource' | 'isMadeForTests' | 'isFunction'>>([
    ...SERVERS.flatMap((on) => [
      { ...on, dataSource: 'product' },
      { ...on, isMadeForTests: true },
    ]),
    { server: 'express', isFunction: true },
  ])('with the options %j', async (wishes) => {
    const started = await start({ parts: 'own', ...wishes });
    expect((await started.exchange(partner.sign())).status).toBe(200);
  });

  it('on Fastify for injected requests, without a connection', async () => {
    const injected = partner.sign();
    const started = await start({ server: 'fastify', parts: 'own', isMadeForTests: true, injected });
    await until('it is injected', 60_000, () => started.printed('injected') !== undefined);
    expect(started.printed('injected')).toBe('200');
  });

  it('with the testing module, and with users that a test overrides', async () => {
    const started = await start({
      server: 'express',
      parts: 'own',
      isMadeForTests: true,
      overridden: 'users',
    });
    expect((await started.exchange(partner.sign())).status).toBe(400);
    expect(started.output).toContain('user_disabled');
  });

  it('as CommonJS, which gets the same classes as an import', async () => {
    const started = await start({ server: 'express', parts: 'own' }, 'commonjs.cjs');
    expect(started.printed('required')).toBe('function true');
    expect((await started.exchange(partner.sign())).status).toBe(200);
  });

  it('again on its existing data, with the same users and keys', async () => {
    const sealingKey = Buffer.alloc(32, 7).toString('base64');
    const first = await start({ server: 'express', parts: 'own', sealingKey });
    const { body } = await first.exchange(partner.sign());
    await first.stop();
    const second = await start({ server: 'fastify', parts: 'own', sealingKey });
    expect((await second.apiMe(body['access_token'])).status).toBe(200);
  });
});

/** What Nest prints of the error that ends the start. */
function lastLinesOf(output: string): string[] {
  return output.slice(output.indexOf('[ExceptionHandler]')).trim().split('\n');
}

describeOnEmptyDatabase('a host with another sealing key', (database) => {
  const start = (byte: number) =>
    optionsOf(newPartner(), {
      server: 'express',
      parts: 'defaults',
      databaseUrl: database().url,
      sealingKey: Buffer.alloc(32, byte).toString('base64'),
    });

  it('does not start, and reports in one line which setting needs which key', async () => {
    await (await HostProcess.start(start(1))).stop();
    const { exitCode, output } = await HostProcess.failing(start(2));
    expect(exitCode).toBe(1);
    expect(lastLinesOf(output)).toEqual([
      expect.stringMatching(
        /accessTokens\.sealingKeys: .* has the id [\da-f]{16}\): put the key that sealed them behind the first one, .*DELETE FROM token_exchange_signing_key/,
      ),
    ]);
  });
});

describeOnEmptyDatabase('a host does not start', (database) => {
  const partner = newPartner();
  const sealingKey = Buffer.alloc(32, 7).toString('base64');
  const fixed = { server: 'express', parts: 'own', sealingKey } as const;
  const failing = (wishes: Partial<Wishes>) =>
    HostProcess.failing(optionsOf(partner, { databaseUrl: database().url, ...fixed, ...wishes }));
  const settings = optionsOf(partner, { server: 'express', parts: 'own', databaseUrl: '' }).settings;

  it.each<[string, Partial<Wishes> & { readonly options?: string }, string]>([
    [
      'without the tables of the package',
      { withoutMigrations: true },
      'tables of token exchange are missing (token_exchange_used_jti, token_exchange_identity_link,',
    ],
    [
      'with another driver than PostgreSQL',
      { driver: 'cockroachdb' },
      'token exchange needs PostgreSQL, and the data source is of type "cockroachdb"',
    ],
    [
      'without users',
      { missing: 'users' },
      'token exchange finds no UserDirectory: put a module into `imports` that provides and exports one',
    ],
    [
      'with users that are made for each request',
      { missing: 'scope of users' },
      'UserDirectory: must not be request-scoped, nor depend on such a provider',
    ],
    [
      'with a second registration',
      { isRegisteredTwice: true },
      'TokenExchangeModule is registered twice. It is global, so register it once in the application',
    ],
    [
      'without its data source',
      { missing: 'data source' },
      'token exchange finds no TypeORM data source: import TypeOrmModule.forRoot',
    ],
    [
      'without an event emitter',
      { missing: 'event emitter' },
      'token exchange finds no event emitter: import EventEmitterModule.forRoot()',
    ],
    [
      'with dates in another format than ISO',
      { options: '-c DateStyle=German' },
      'token exchange needs DateStyle as PostgreSQL has it by default, and the connections of the data source have "German, DMY"',
    ],
    [
      'with a setting that is not known',
      { settings: { ...settings, exchange: { perMinut: 5 } as never } },
      'exchange.perMinut: is not known (did you mean perMinute?)',
    ],
  ])('%s, and reports it without a stack', async (_, { options = '', ...wishes }, message) => {
    const url = new URL(database().url);
    url.searchParams.set('options', options);
    const { exitCode, output } = await failing({ databaseUrl: url.href, ...wishes });
    expect(output).toContain(message);
    expect(output.split('\n').filter((line) => /^\s+at /.test(line))).toEqual([]);
    expect(exitCode).not.toBe(0);
    expect(output).not.toContain('listening');
  });
});
