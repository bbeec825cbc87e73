// One connection listens to the announcements of other processes, for all who want to know of some.
import { Client } from 'pg';
import { PostgresNotifications } from '../../src/platform/jobs/postgres.notifications.js';
import type { Log } from '../../src/platform/log/log.js';
import { SILENT } from '../../src/platform/log/log.js';
import { describeOnPostgresql } from '../support/databases.js';
import { until } from '../support/until.js';

const SOON_MS = 60_000;
const LISTENING = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'embedded-token-exchange notifications'`;

describeOnPostgresql('[D60] announcements', (database) => {
  let other: Client;
  let notifications: PostgresNotifications;
  let warnings: string[];

  beforeAll(async () => {
    other = new Client({ connectionString: database.environment['SVC_DATABASE_URL'] });
    await other.connect();
  });
  afterAll(() => other?.end());
  beforeEach(() => {
    warnings = [];
    const log: Log = { ...SILENT, warn: (_fields, message) => void warnings.push(message) };
    notifications = new PostgresNotifications(
      { connectionString: database.environment['SVC_DATABASE_URL'] },
      log,
    );
  });

  const counted = (channel: string) => {
    const heard = { count: 0, subscription: notifications.listen(channel, () => (heard.count += 1)) };
    return heard;
  };
  const listening = async () => (await other.query<{ pid: number }>(LISTENING)).rows;
  const countOf = (heard: { count: number }, count: number) =>
    until(`it has heard ${count}`, SOON_MS, () => heard.count === count);

  it('reach every listener over one connection, which the last listener closes', async () => {
    const early = counted('one');
    await countOf(early, 1);
    // While the connection is there, and while it is made.
    const [late, twin] = [counted('two'), counted('two')];
    await countOf(late, 1);
    await countOf(twin, 1);
    await other.query(`NOTIFY two`);
    await countOf(late, 2);
    await countOf(twin, 2);
    expect([early.count, (await listening()).length]).toEqual([1, 1]);
    await Promise.all([early.subscription.end(), late.subscription.end()]);
    await other.query(`NOTIFY two`);
    await countOf(twin, 3);
    expect([early.count, late.count]).toEqual([1, 2]);
    await twin.subscription.end();
    await until('nobody listens', SOON_MS, async () => (await listening()).length === 0);
    expect(warnings).toEqual([]);
  });

  it('reach all other listeners while one is slow', async () => {
    const never = new Promise<void>(() => undefined);
    const slow = notifications.listen('slow', () => void never.then(() => undefined));
    const [quick, elsewhere] = [counted('slow'), counted('quick')];
    await countOf(quick, 1);
    await countOf(elsewhere, 1);
    await other.query(`NOTIFY slow`);
    await other.query(`NOTIFY quick`);
    await countOf(quick, 2);
    await countOf(elsewhere, 2);
    await Promise.all([slow.end(), quick.subscription.end(), elsewhere.subscription.end()]);
  });

  it('may be missed while the connection is lost, so that all listeners read again', async () => {
    const [one, two] = [counted('one'), counted('two')];
    await countOf(one, 1);
    await countOf(two, 1);
    const [{ pid } = { pid: 0 }] = await listening();
    await other.query('SELECT pg_terminate_backend($1)', [pid]);
    await countOf(one, 2);
    await countOf(two, 2);
    expect(warnings).toEqual(['no database notifications; changes are polled for meanwhile']);
    // One who begins to listen now does so over the new connection.
    const three = counted('three');
    await countOf(three, 1);
    expect(await listening()).toHaveLength(1);
    await Promise.all([one, two, three].map(({ subscription }) => subscription.end()));
  });

  it('are received by a listener that starts after the last one has ended', async () => {
    const first = counted('one');
    await countOf(first, 1);
    await first.subscription.end();
    const second = counted('one');
    await countOf(second, 1);
    await other.query(`NOTIFY one`);
    await countOf(second, 2);
    await second.subscription.end();
    expect(first.count).toBe(1);
  });
});
