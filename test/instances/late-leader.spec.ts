// A leader sleeps while another takes over: every job of the other's changes the database under its epoch, and the sleeper nothing.
import { Partner } from '../../demo/partner.js';
import type { OpenDatabase } from '../../src/database/data-source.js';
import { JwksServer } from '../support/jwks-server.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { ServiceCluster, describeWithProcesses } from '../support/service-cluster.js';
import { until } from '../support/until.js';

const SOON_MS = 90_000;
const LEADS_NOW = 'this instance is the leader now';
const LEADS_NO_LONGER = 'this instance is no longer the leader';
/** Each is written by one of the leader's jobs at least. */
const TABLES = [
  'audit_event',
  'audit_sink_cursor',
  'throttle_counter',
  'token_exchange_ended_token',
  'token_exchange_jwks_snapshot',
  'token_exchange_session',
  'token_exchange_used_jti',
  'token_exchange_user_sign_out',
];
const USER = '00000000-0000-4000-8000-000000000001';

/** Something for each job to do. What is old is old beyond every setting. */
const WORK = [
  `INSERT INTO token_exchange_used_jti VALUES (sha256('late'), now() - interval '1 day')`,
  `INSERT INTO token_exchange_ended_token VALUES ('late', now() - interval '1 day')`,
  `INSERT INTO token_exchange_user_sign_out VALUES ('late', now() - interval '40 days')`,
  `INSERT INTO user_account (id, email, normalized_email, role)
   VALUES ('${USER}', 'late@partner.example', 'late@partner.example', 'global:member')`,
  `INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at)
   VALUES (sha256('late'), '${USER}', '${USER}', now() - interval '2 days', now() - interval '1 day')`,
  `INSERT INTO throttle_counter VALUES ('late', 1, now() - interval '1 day')`,
  `INSERT INTO audit_event (name, occurred_at, request_id, payload)
   VALUES ('svc.audit.api.called', now() - interval '40 days', 'old', '{}'), ('svc.audit.api.called', now(), 'new', '{}')`,
];

/** Each change of a row by an instance, with the statement that made it. */
const WITNESS = [
  `CREATE TABLE witnessed_change (
    id bigint GENERATED ALWAYS AS IDENTITY,
    instance text NOT NULL DEFAULT current_setting('application_name'),
    name text NOT NULL,
    statement text NOT NULL DEFAULT current_query()
  )`,
  `CREATE FUNCTION witness_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witnessed_change (name) VALUES (TG_TABLE_NAME);
    RETURN NULL;
  END $$`,
  `DO $$ DECLARE found record; BEGIN
    FOR found IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
      AND relname NOT IN ('witnessed_change', 'token_exchange_leader_lease')
    LOOP
      EXECUTE format('CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON %I
        FOR EACH ROW EXECUTE FUNCTION witness_change()', found.relname);
    END LOOP;
  END $$`,
];

interface Change {
  readonly instance: string;
  readonly name: string;
  readonly statement: string;
}

jest.setTimeout(240_000);

describeWithProcesses('[D94] a leader that wakes up late', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  let keySet: JwksServer;
  let opened: OpenDatabase;
  let cluster: ServiceCluster;

  beforeAll(async () => {
    opened = await database.open();
    keySet = await JwksServer.listen();
    keySet.publish(partner.jwks());
    cluster = await ServiceCluster.start(2, database, {
      trustedKeys: [{ type: 'jwks', url: keySet.url, issuer: partner.issuer }],
      environment: {
        SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS: '1',
        SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS: '1',
        SVC_THROTTLE_STORE: 'database',
        SVC_AUDIT_STDOUT: 'true',
        SVC_AUDIT_RETENTION_DAYS: '1',
        SVC_AUDIT_MAX_DAYS: '2',
      },
    });
    for (const statement of WITNESS) await opened.dataSource.query(statement);
  });
  afterAll(async () => {
    for (const instance of cluster?.instances ?? []) instance.thaw();
    await cluster?.stop();
    await keySet?.close();
  });

  const said = (instance: ServiceInstance, message: string) =>
    instance.log().filter(({ msg }) => msg === message).length;
  const changes = (after = '0') =>
    opened.dataSource.query<(Change & { id: string })[]>(
      `SELECT * FROM witnessed_change WHERE id > $1 AND instance LIKE 'instance-%' ORDER BY id`,
      [after],
    );

  it('changes nothing, and no job of the one that leads changes anything but under its epoch', async () => {
    let first: ServiceInstance | undefined;
    await until('one leads', SOON_MS, () => {
      first = cluster.instances.find((instance) => said(instance, LEADS_NOW) > 0);
      return first !== undefined;
    });
    const [second] = cluster.instances.filter((instance) => instance !== first);
    await until('it works', SOON_MS, async () => (await changes()).length > 0);
    first!.freeze();
    for (const statement of WORK) await opened.dataSource.query(statement);
    await until('the other leads', SOON_MS, () => said(second!, LEADS_NOW) > 0);
    // What was under way when it fell asleep was waited for.
    const replacedAt = (await changes()).at(-1)?.id;

    await until('the other does all of its jobs', SOON_MS, async () => {
      const byOther = (await changes()).filter(({ instance }) => instance === second!.name);
      return TABLES.every((table) => byOther.some(({ name }) => name === table));
    });
    first!.thaw();
    await until('it knows', SOON_MS, () => said(first!, LEADS_NO_LONGER) > 0);
    const knownAt = (await changes()).at(-1)?.id;
    await until('the other goes on', SOON_MS, async () => (await changes(knownAt)).length > 1);

    const since = await changes(replacedAt);
    expect(since.filter(({ instance }) => instance === first!.name)).toEqual([]);
    expect((await changes()).filter(({ statement }) => !statement.startsWith('WITH leadership'))).toEqual([]);
    expect(said(first!, LEADS_NO_LONGER)).toBe(1);
    expect(said(second!, LEADS_NO_LONGER)).toBe(0);
    expect(said(second!, LEADS_NOW)).toBe(1);
  });
});
