// Unauthenticated requests to the operator's page can delay only operators, even if the database is slow.
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { Partner } from '../../demo/partner.js';
import { Database } from '../../src/platform/database/database.js';
import { describeOnAnyDatabase, describeOnPostgresql } from '../support/databases.js';
import { OPERATOR_ENVIRONMENT, OperatorBrowser, errorOf } from '../support/operators.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const KNOCKS = 12;
const PATIENCE_MS = 60_000;

function knock(service: TestService, address = '192.0.2.1'): Promise<Response> {
  const browser = new OperatorBrowser(service, address);
  browser.cookie = `__Host-svc-operator=${randomBytes(32).toString('base64url')}`;
  return browser.get('session');
}

describeOnPostgresql('made-up cookies while sessions of operators are locked', (database) => {
  let service: TestService;
  let holder: Client;

  beforeAll(async () => {
    // Long enough that everything here happens meanwhile, on a busy machine too.
    const environment = { ...OPERATOR_ENVIRONMENT, SVC_DATABASE_WAIT_MS: '8000' };
    service = await TestService.start(database, { environment, trustedKeys: [partner.staticEntry()] });
    if (database.settings.kind !== 'postgresql') throw new Error('tables are locked on PostgreSQL only');
    holder = new Client({ connectionString: database.settings.url });
    await holder.connect();
  });
  afterAll(async () => {
    await holder?.end();
    await service?.stop();
  });

  const waiting = async () => {
    // Not by the holder: within a transaction it is told of the others once.
    const [row] = await service.rows<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%operator_session%'`,
    );
    return row?.count ?? 0;
  };

  it('[D49] are answered 503, and neither logins nor followers wait for them', async () => {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE operator_session');
    let answered = 0;
    const knocks = Array.from({ length: KNOCKS }, () => knock(service).finally(() => (answered += 1)));
    await until('they wait', PATIENCE_MS, async () => (await waiting()) > 0);
    await service.part(Database).query('SELECT 1');
    const subject_token = partner.sign(partner.claims({ sub: 'kim' }));
    const exchanged = await service.exchange({ subject_token });
    expect([exchanged.status, answered]).toEqual([200, 0]);
    for (const answer of await Promise.all(knocks)) {
      expect(await errorOf(answer)).toEqual([503, 'temporarily_unavailable']);
      expect(answer.headers.get('retry-after')).not.toBeNull();
    }
    await holder.query('ROLLBACK');
    expect((await knock(service)).status).toBe(401);
  });
});

describeOnAnyDatabase('made-up cookies', (database) => {
  const service = TestService.forBlock(database, { environment: OPERATOR_ENVIRONMENT });

  it('[B.operator] are counted by the address from which they come', async () => {
    const first = await knock(service);
    expect([first.status, first.headers.get('ratelimit-limit')]).toEqual([401, '1200']);
    expect(first.headers.get('ratelimit-remaining')).toBe('1199');
    expect((await knock(service)).headers.get('ratelimit-remaining')).toBe('1198');
    expect((await knock(service, '192.0.2.2')).headers.get('ratelimit-remaining')).toBe('1199');
  });
});
