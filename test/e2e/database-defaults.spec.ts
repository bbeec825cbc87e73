// Defaults of the database or of its role that would change results: each connection of the service sets its own values.
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { Partner } from '../../demo/partner.js';
import { SCHEMA } from '../../src/instance/schema.js';
import type { DatabaseSettings } from '../../src/platform/database/data-source.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import type { StatementPool } from '../../src/platform/database/database.js';
import { Database, OPERATOR_DATABASE } from '../../src/platform/database/database.js';
import { Leader } from '../../src/platform/jobs/leader.js';
import { Notifications } from '../../src/platform/jobs/notifications.js';
import { JwksKeyProvider } from '../../src/token-exchange/trust/jwks/jwks-key.provider.js';
import { describeOnEmbedded, describeOnPostgresql, TestDatabase } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const WRONG = {
  DateStyle: 'German, DMY',
  IntervalStyle: 'iso_8601',
  TimeZone: 'Pacific/Chatham',
  extra_float_digits: '-15',
  bytea_output: 'escape',
  search_path: 'nowhere',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  default_transaction_isolation: 'serializable',
  statement_timeout: '7min',
  lock_timeout: '7min',
  idle_in_transaction_session_timeout: '7min',
  idle_session_timeout: '7min',
};
type Setting = keyof typeof WRONG;
const SHOWN = Object.keys(WRONG).map((name) => `current_setting('${name}') AS "${name}"`);
const SHOW = `SELECT ${SHOWN.join(', ')}`;
const SOON_MS = 60_000;

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const publisher = Partner.create({ issuer: 'https://publisher.example', audience: BASE_URL });

/** The database as another role reaches it. */
class DatabaseOfRole extends TestDatabase {
  constructor(
    private readonly database: TestDatabase,
    private readonly role: string,
  ) {
    super('postgresql');
  }

  get url(): string {
    const url = new URL(urlOf(this.database.settings));
    [url.username, url.password] = [this.role, this.role];
    return url.href;
  }

  override get settings(): DatabaseSettings {
    return { ...this.database.settings, url: this.url } as DatabaseSettings;
  }

  override get environment(): Record<string, string> {
    return { ...this.database.environment, SVC_DATABASE_URL: this.url };
  }
}

function urlOf(settings: DatabaseSettings): string {
  if (settings.kind !== 'postgresql') throw new Error('roles are of PostgreSQL');
  return settings.url;
}

/** What the service itself has not, so that it obeys none of these defaults. */
async function asAdministrator(url: string, statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function wrongly(object: string): string[] {
  return Object.entries(WRONG).map(([name, value]) => {
    const written = name === 'search_path' ? value : `'${value}'`;
    return `ALTER ${object} SET ${name} = ${written}`;
  });
}

describeOnPostgresql('[D96] connections set what results depend on', (database) => {
  const role = `role_${randomBytes(6).toString('hex')}`;
  const ofRole = new DatabaseOfRole(database, role);
  const jwks = JwksServer.forBlock();
  const commands = new CommandLine(() => ({ ...ofRole.environment, SVC_BASE_URL: BASE_URL }));
  let service: TestService;
  const byAdministrator = (statements: readonly string[]) =>
    asAdministrator(urlOf(database.settings), statements);

  beforeAll(async () => {
    await byAdministrator([`CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD '${role}'`]);
    jwks.publish(publisher.jwks());
  });
  afterAll(async () => {
    await service?.stop();
    await byAdministrator([`DROP OWNED BY ${role}`, `DROP ROLE ${role}`]);
  });

  const start = async () => {
    service = await TestService.start(ofRole, {
      trustedKeys: [partner.staticEntry(), { type: 'jwks', url: jwks.url, issuer: publisher.issuer }],
      environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
    });
  };

  const flowsWork = async () => {
    const accessToken = await service.accessToken({ subject_token: partner.sign() });
    const headers = { authorization: `Bearer ${accessToken}` };
    expect((await service.fetch('/api/v1/workflows', { headers })).status).toBe(200);
    const cookie = await service.sessionCookie(publisher.sign());
    expect((await service.fetch('/rest/me', { headers: { cookie } })).status).toBe(200);
    const added = await commands.run(['keys', 'add', '--file', '-'], undefined, JSON.stringify(another()));
    expect([added.exitCode, added.stderr]).toEqual([0, expect.anything()]);
    expect(await commands.output(['audit', 'list', '--limit', '5'])).toContain('embed-login');
    const [state] = service.part(JwksKeyProvider).status();
    expect(state).toMatchObject({ state: 'held', keys: 1 });
    expect(Math.abs(Date.now() - state!.lastSuccessAt!.getTime())).toBeLessThan(600_000);
    await until('it leads', SOON_MS, () => service.part(Leader).isLeader);
  };
  const another = () => {
    const name = `another-${randomBytes(4).toString('hex')}`;
    return { ...Partner.create({ issuer: `https://${name}.example` }).staticEntry(), name };
  };

  const sessions = async () => {
    const background = await service.part(Database).background.query<Record<Setting, string>>(SHOW);
    const operator = await service
      .part<StatementPool>(OPERATOR_DATABASE as never)
      .query<Record<Setting, string>>(SHOW);
    return [...(await service.rows<Record<Setting, string>>(SHOW)), ...background, ...operator];
  };

  const expectOwnSettings = async () => {
    for (const session of await sessions())
      for (const [name, wrong] of Object.entries(WRONG))
        expect([name, session[name as Setting]]).not.toEqual([name, wrong]);
  };

  it.each(['DATABASE', 'ROLE'])(
    'that are otherwise by the default of the %s, when it starts',
    async (kind) => {
      const name = kind === 'ROLE' ? role : new URL(ofRole.url).pathname.slice(1);
      await byAdministrator(wrongly(`${kind} ${name}`));
      await start();
      await flowsWork();
      await expectOwnSettings();
      await service.stop();
      await byAdministrator([`ALTER ${kind} ${name} RESET ALL`]);
    },
  );

  it('those that listen to announcements too, which the server would end as idle', async () => {
    const listening = `SELECT pid FROM pg_stat_activity
      WHERE usename = '${role}' AND application_name LIKE '% notifications'`;
    await start();
    let heard = 0;
    const subscription = service.part(Notifications).listen('idle', () => (heard += 1));
    await until('it listens', SOON_MS, () => heard === 1);
    const [before] = await service.rows<{ pid: number }>(listening);
    await byAdministrator([
      `ALTER ROLE ${role} SET idle_session_timeout = '1s'`,
      `SELECT pg_terminate_backend(${before?.pid})`,
    ]);
    await until('it listens again', SOON_MS, () => heard === 2);
    const listeners = await service.rows(listening);
    expect(listeners).toHaveLength(1);
    await service.rows('SELECT pg_sleep(1.4)');
    expect(await service.rows(listening)).toEqual(listeners);
    await subscription.end();
  });

  it('also where they make the tables', async () => {
    const name = `empty_${randomBytes(6).toString('hex')}`;
    await byAdministrator([`CREATE DATABASE ${name}`, ...wrongly(`DATABASE ${name}`)]);
    const url = new URL(urlOf(database.settings));
    url.pathname = name;
    const opened = await openDatabase({ kind: 'postgresql', url: url.href, poolSize: 2 }, SCHEMA);
    const tables = await opened.dataSource.query(`SELECT to_regclass('public.audit_event')::text AS found`);
    await opened.close();
    await byAdministrator([`DROP DATABASE ${name} WITH (FORCE)`]);
    expect(tables).toEqual([{ found: 'audit_event' }]);
  });
});

describeOnEmbedded('[D96] the connection of the embedded database', (database) => {
  it('sets what results depend on', async () => {
    const first = await database.open();
    for (const statement of wrongly('SYSTEM')) await first.dataSource.query(statement);
    await first.close();
    const { dataSource } = await database.open();
    const [session] = await dataSource.query(SHOW);
    for (const [setting, wrong] of Object.entries(WRONG)) expect(session[setting]).not.toBe(wrong);
  });
});
