// Two instances are both made to believe that they lead, under load: no event is lost, and nothing is deleted before its time.
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import { AuditRetentionJob } from '../../src/audit/audit-retention.job.js';
import { ActiveUsersJob } from '../../src/audit/usage/active-users.job.js';
import { Leader } from '../../src/platform/jobs/leader.js';
import { cursorAtOldest } from '../support/audit.js';
import { WebhookReceiver } from '../support/audit-receivers.js';
import { describeOnPostgresql } from '../support/databases.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const SECRET = 'a secret of thirty-two characters';
const LOAD_MS = 4_000;
/** An open transaction of another test on the same server delays the stream and its unsent events. */
const SOON_MS = 90_000;
const USER = '00000000-0000-4000-8000-000000000001';

/** The tables that are purged, each with the condition for a row to be due. */
const KINDS = Object.entries({
  token_exchange_used_jti: 'OLD.expires_at < clock_timestamp()',
  token_exchange_ended_token: 'OLD.expires_at < clock_timestamp()',
  token_exchange_session: 'OLD.expires_at < clock_timestamp()',
  operator_session: 'OLD.expires_at < clock_timestamp()',
  throttle_counter: 'OLD.window_ends_at < clock_timestamp()',
  active_user: "OLD.month < clock_timestamp() - interval '762 days'",
  audit_event: "OLD.occurred_at < clock_timestamp() - interval '1 day'",
});

/** Each row of them that is deleted, with whether its time had come. */
const WITNESS = [
  `CREATE TABLE deleted (name text, is_due boolean)`,
  ...KINDS.flatMap(([table, isDue]) => [
    `CREATE FUNCTION witness_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO deleted VALUES ('${table}', ${isDue});
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER witness AFTER DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION witness_${table}()`,
  ]),
];

/** Of each kind a row whose time has come, and one whose time has not. */
const WORK = ['2 days', '-1 hour'].flatMap((age) => [
  `INSERT INTO token_exchange_used_jti VALUES (gen_random_uuid(), now() - interval '${age}')`,
  `INSERT INTO token_exchange_ended_token VALUES (random()::text, now() - interval '${age}')`,
  `INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at)
   VALUES (sha256(random()::text::bytea), '${USER}', gen_random_uuid(), now() - interval '3 days', now() - interval '${age}')`,
  `INSERT INTO operator_session (id, secret_hash, user_id, opened_at, last_used_at, expires_at, client_address, access_generation)
   VALUES (gen_random_uuid(), sha256(random()::text::bytea), '${USER}', now(), now(), now() - interval '${age}', '192.0.2.1', 0)`,
  `INSERT INTO throttle_counter VALUES (random()::text, 1, now() - interval '${age}')`,
  `INSERT INTO active_user VALUES (now() - interval '${age}' * 400, 'https://partner.example', gen_random_uuid())`,
  `INSERT INTO audit_event (name, occurred_at, request_id, payload)
   VALUES ('svc.audit.api.called', now() - interval '${age}', 'of the test', '{}')`,
]);

describeOnPostgresql('[D94] two that both believe that they lead', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  let webhook: WebhookReceiver;
  let services: TestService[] = [];

  beforeAll(async () => {
    webhook = await WebhookReceiver.listen(SECRET);
    const { dataSource } = await database.open();
    await dataSource.query(cursorAtOldest('webhook'));
    const start = () =>
      TestService.start(database, {
        trustedKeys: [partner.staticEntry()],
        environment: {
          SVC_ADMIN_ENABLED: 'true',
          SVC_THROTTLE_STORE: 'database',
          SVC_AUDIT_WEBHOOK_URL: webhook.url,
          SVC_AUDIT_WEBHOOK_SECRET: SECRET,
          SVC_AUDIT_WEBHOOK_ALLOW_HTTP: 'true',
          SVC_AUDIT_RETENTION_DAYS: '1',
        },
      });
    services = [await start(), await start()];
    for (const service of services)
      Object.defineProperty(service.part(Leader), 'isLeader', { get: () => true });
    await services[0]!.rows(
      `INSERT INTO user_account (id, email, normalized_email, role)
       VALUES ('${USER}', 'a@partner.example', 'a@partner.example', 'global:admin')`,
    );
    for (const statement of WITNESS) await services[0]!.rows(statement);
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await webhook.die();
  });

  const runJobs = async (service: TestService) => {
    await service.purge('jti-purge');
    await service.purge('revocation-purge');
    await service.purge('session-purge');
    await service.purge('throttle-purge');
    await service.purge('operator-purge');
    await service.purge('active-user-purge');
    await service.part(ActiveUsersJob).run();
    await service.part(AuditRetentionJob).run();
  };

  it('lose no event, and delete nothing early', async () => {
    const [first] = services as [TestService];
    const endsAt = performance.now() + LOAD_MS;
    const repeat = async (work: () => Promise<unknown>) => {
      while (performance.now() < endsAt) await work();
    };
    const written = new Set<string>();
    await Promise.all([
      ...services.map((service) => repeat(() => runJobs(service))),
      ...services.map((service) => repeat(() => service.accessToken({ subject_token: partner.sign() }))),
      repeat(async () => {
        for (const statement of WORK) await first.rows(statement);
        const rows = await first.rows<{ id: string }>('SELECT id FROM audit_event');
        for (const { id } of rows) written.add(id);
        await pause(20);
      }),
    ]);
    const rows = await first.rows<{ id: string }>('SELECT id FROM audit_event');
    for (const { id } of rows) written.add(id);
    const missing = () => written.size - webhook.firstArrivals.filter((id) => written.has(id)).length;
    await until('every event has arrived', SOON_MS, () => missing() === 0);

    await until('of every kind one is deleted', SOON_MS, async () => {
      await runJobs(first);
      return (await first.rows('SELECT DISTINCT name FROM deleted')).length === KINDS.length;
    });
    expect(await first.rows('SELECT DISTINCT name FROM deleted WHERE NOT is_due')).toEqual([]);
  });
});
