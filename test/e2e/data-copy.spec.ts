// svc-admin data copy: an instance moves to PostgreSQL with all its data, and can no longer use its data directory.
import { rmSync } from 'node:fs';
import { Partner } from '../../demo/partner.js';
import { PasswordHasher } from '../../src/administration/accounts/passwords.js';
import { markOf } from '../../src/platform/database/embedded/data-directory.js';
import { ApiWorld, BASIC_AUTH } from '../support/api-world.js';
import { WebhookReceiver } from '../support/audit-receivers.js';
import { describeOnPostgresql, TestDatabase } from '../support/databases.js';
import { meStatus } from '../support/logins.js';
import { OPERATOR_ENVIRONMENT, OperatorBrowser, PASSWORD, setPassword } from '../support/operators.js';
import { CommandLine } from '../support/run-cli.js';
import { isMainScope } from '../support/series.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TestClock } from '../support/test-clock.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const SIZE = isMainScope ? { users: 300, events: 3_000 } : { users: 10_000, events: 100_000 };
const SECRET = 'a secret of thirty-two characters';
/** Another test's open transaction delays the stream, and a sink may wait a minute before it sends again. */
const PATIENCE_MS = 240_000;

/** Rows of an instance with a history. The last event is deleted, and its id must not be used again. */
const FILLING = [
  `INSERT INTO user_account (id, email, normalized_email, role)
   SELECT gen_random_uuid(), address, address, 'global:member'
   FROM (SELECT format('filled-%s@partner.example', number) AS address FROM generate_series(1, ${SIZE.users}) AS number) AS users`,
  `INSERT INTO audit_event (occurred_at, name, request_id, payload, person_hashes)
   SELECT now() - interval '1 day', 'svc.audit.token-exchange.failed', 'r-' || number,
     jsonb_build_object('text', E'a "quoted", \\\\ (text)\\n', 'number', number), ARRAY[decode('00ff', 'hex'), decode('', 'hex')]
   FROM generate_series(1, ${SIZE.events + 1}) AS number`,
  'DELETE FROM audit_event WHERE id = (SELECT max(id) FROM audit_event)',
];

/** A digest of all rows, without the columns whose values depend on one database's transactions. */
const DIGEST = (table: string) =>
  `SELECT count(*)::int AS rows, md5(string_agg(hash, '' ORDER BY hash)) AS digest FROM (
    SELECT md5((to_jsonb(t) - ARRAY['transaction_id', 'written_in', 'event_id'])::text) AS hash FROM ${table} AS t) AS rows`;
const TABLES = `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::text::regnamespace
  AND relname NOT IN ('schema_migration', 'throttle_counter') ORDER BY 1`;
const LAST_EVENT_ID = 'SELECT last_value AS id FROM audit_event_id_seq';

type Query = (sql: string) => Promise<Record<string, unknown>[]>;

async function contentOf(query: Query) {
  const content: Record<string, unknown> = {};
  for (const { name } of (await query(TABLES)) as { name: string }[])
    [content[name]] = await query(DIGEST(name));
  [content['last event']] = await query(LAST_EVENT_ID);
  return content as Record<string, { rows: number }>;
}

/** The date is stopped, so that a used token is refused as used, even if the copy takes long. Waits before another attempt pass. */
class StoppedDate extends TestClock {
  override monotonicMs(): number {
    return performance.now();
  }
}

describeOnPostgresql('svc-admin data copy', (target) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const source = new TestDatabase('embedded');
  const line = new CommandLine();
  let webhook: WebhookReceiver;
  beforeAll(() => source.create());
  beforeAll(async () => void (webhook = await WebhookReceiver.listen(SECRET)));
  afterAll(() => webhook.die());
  afterAll(() => source.remove());

  const keyOf = () => target.environment['SVC_ENCRYPTION_KEY'];
  const urlOf = () => target.environment['SVC_DATABASE_URL'] ?? '';
  const clock = new StoppedDate();
  const newToken = () => partner.sign(partner.claims({ iat: Math.floor(clock.nowSeconds()) }));
  const start = (database: TestDatabase) =>
    TestService.start(database, {
      clock,
      trustedKeys: [partner.staticEntry()],
      environment: {
        ...OPERATOR_ENVIRONMENT,
        SVC_ENCRYPTION_KEY: keyOf(),
        SVC_AUDIT_WEBHOOK_URL: webhook.url,
        SVC_AUDIT_WEBHOOK_SECRET: SECRET,
        SVC_AUDIT_WEBHOOK_ALLOW_HTTP: 'true',
        SVC_AUDIT_STDOUT: 'true',
      },
    });
  const copy = (environment: Record<string, string | undefined> = {}, url = urlOf()) =>
    line.run(['data', 'copy', '--to', url, '--json'], {
      ...source.environment,
      SVC_ENCRYPTION_KEY: keyOf(),
      ...environment,
    });
  const contentAt = async (database: TestDatabase) => {
    const { dataSource, close } = await database.open();
    try {
      return await contentOf((sql) => dataSource.query(sql));
    } finally {
      await close();
    }
  };
  const refusal = async (environment: Record<string, string | undefined> = {}) => {
    const { exitCode, stdout, stderr } = await copy(environment);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).not.toContain(urlOf());
    return stderr;
  };
  /** The ids of the events that a service has written to standard output. */
  const told = ({ log }: TestService) => log.filter(({ type }) => type === 'audit-event').map(({ id }) => id);
  const before: { service?: TestService; content?: Awaited<ReturnType<typeof contentOf>>; told: unknown[] } =
    { told: [] };
  let usedToken: string;
  let cookie: string;
  let credentialId: string;

  beforeAll(async () => {
    const { dataSource, close } = await source.open();
    for (const statement of FILLING) await dataSource.query(statement);
    await close();
    const service = await start(source);
    before.service = service;
    const cursors = (condition = 'true') =>
      service.rows(`SELECT FROM audit_sink_cursor WHERE name <> 'active-users' AND ${condition}`);
    await until('both sinks have begun', PATIENCE_MS, async () => (await cursors()).length === 2);
    const world = new ApiWorld(service);
    await world.createParties();
    await setPassword(service, world.idOf('owner'), await new PasswordHasher().hash(PASSWORD));
    usedToken = newToken();
    expect((await service.exchange({ subject_token: usedToken })).status).toBe(200);
    cookie = await service.sessionCookie(newToken());
    const atLast = 'event_id = (SELECT max(id) FROM audit_event)';
    await until('both have had all', PATIENCE_MS, async () => (await cursors(atLast)).length === 2);
    await webhook.die();
    credentialId = await world.createCredential(await world.createProject());
    for (let count = 0; count < 3; count++) await service.exchange({ subject_token: 'no token' });
    await until('one has had more', PATIENCE_MS, async () => (await cursors(atLast)).length === 1);
  });

  it('[D46] refuses while the service runs', async () => {
    expect(await refusal()).toContain('is in use by process');
    await before.service?.stop();
    before.told = told(before.service!);
    before.content = await contentAt(source);
  });

  it('[D45] refuses missing sealing keys, and keys that do not unseal every row', async () => {
    const other = Buffer.alloc(32, 7).toString('base64');
    expect(await refusal({ SVC_ENCRYPTION_KEY: other })).toContain(
      `credential ${credentialId}: no key of SVC_ENCRYPTION_KEY has the id`,
    );
    expect(await refusal({ SVC_ENCRYPTION_KEY: undefined })).toContain('is required with PostgreSQL');
  });

  it('[D137] refuses a folder without a database, and creates no database in it', async () => {
    const answer = await refusal({ SVC_DATA_DIR: 'elsewhere' });
    expect(answer).toMatch(/There is no embedded database in .*elsewhere/);
    expect(await refusal({ SVC_DATA_DIR: 'elsewhere' })).toBe(answer);
  });

  it('[D137] refuses a target that has a row, and changes neither database', async () => {
    const { dataSource, close } = await target.open();
    await dataSource.query(
      `INSERT INTO user_account (id, email, normalized_email, role) VALUES (gen_random_uuid(), 'a', 'a', 'global:member')`,
    );
    expect(await refusal()).toContain('Nothing was copied: the target has rows in user_account');
    await dataSource.query('DELETE FROM user_account');
    await close();
    expect(await contentAt(source)).toEqual(before.content);
  });

  it('[D137] copies every row, and reports the number of rows in each table', async () => {
    const { exitCode, stdout, stderr } = await copy();
    expect([exitCode, stderr]).toEqual([0, '']);
    const { 'last event': _last, ...tables } = before.content!;
    const { rows } = JSON.parse(stdout) as { rows: Record<string, number> };
    expect(rows).toEqual(Object.fromEntries(Object.entries(tables).map(([name, each]) => [name, each.rows])));
    expect(rows['user_account']).toBeGreaterThan(SIZE.users);
    expect(await contentAt(target)).toEqual(before.content);
  });

  it('[D137] afterwards service and commands refuse the old data directory', async () => {
    await expect(start(source)).rejects.toThrow(/was copied to PostgreSQL: set SVC_DATABASE_URL/);
    expect(await refusal()).toContain('was copied to PostgreSQL');
    const { stderr } = await line.run(['users', 'list'], source.environment);
    expect(stderr).toContain('was copied to PostgreSQL');
  });

  describe('the instance on PostgreSQL', () => {
    let service: TestService;
    beforeAll(async () => void (service = await start(target)));
    afterAll(() => service.stop());

    it('[D137] refuses used tokens, accepts new ones, and keeps session, owner and credential', async () => {
      expect((await service.exchange({ subject_token: usedToken })).status).toBe(400);
      expect(await (await service.embed({ token: usedToken })).json()).toMatchObject({
        error: 'token_replayed',
      });
      expect(await meStatus(service, cookie)).toBe(200);
      const [owner] = await service.rows<{ email: string }>(
        `SELECT email FROM user_account WHERE role = 'global:owner'`,
      );
      expect((await new OperatorBrowser(service).signIn(owner?.email ?? '')).status).toBe(201);
      expect(await new ApiWorld(service).credentialData(credentialId)).toEqual(BASIC_AUTH);
      expect((await service.exchange({ subject_token: newToken() })).status).toBe(200);
    });

    it('[D137][D87] sends each sink exactly once the events that it has not received before', async () => {
      await webhook.comeBack();
      const events = await service.rows<{ id: string }>(
        `SELECT id FROM audit_event WHERE id > ${SIZE.events + 1} ORDER BY transaction_id, id`,
      );
      const ids = events.map(({ id }) => id);
      expect(ids.length).toBeGreaterThan(10);
      const has = (seen: unknown[]) => ids.every((id) => seen.includes(id));
      await until('the webhook has them', PATIENCE_MS, () => has(webhook.firstArrivals));
      await until('the log has them', PATIENCE_MS, () => has([...before.told, ...told(service)]));
      expect(webhook.arrived.map(({ id }) => id)).toEqual(ids);
      expect([...before.told, ...told(service)]).toEqual(ids);
    });
  });

  it('[D137] reports an unknown result if the response to COMMIT is lost, and keeps the mark in the folder', async () => {
    const mark = markOf(source.environment['SVC_DATA_DIR'] ?? '');
    rmSync(mark);
    const { dataSource, close } = await target.open();
    const tables = await dataSource.query<{ name: string }[]>(TABLES);
    await dataSource.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
    await close();
    const proxy = await TcpProxy.open(urlOf());
    proxy.loseAnswersTo('COMMIT\0');
    const { exitCode, stderr } = await copy({}, proxy.url);
    await proxy.close();
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/It is unknown whether .* Otherwise delete /);
    expect(stderr).toContain(mark);
    expect(stderr).not.toContain(proxy.url);
    expect(await contentAt(target)).toEqual(before.content);
    await expect(start(source)).rejects.toThrow('was copied to PostgreSQL');
  });
});
