// The deletion of old audit events, and the conditions that keep them.
import { AuditRetentionJob } from '../../src/audit/audit-retention.job.js';
import { AuditTrailReader } from '../../src/audit/audit-trail.reader.js';
import { BEGINNING, SinkCursorRepository } from '../../src/audit/sinks/sink-cursor.repository.js';
import { Clock } from '../../src/platform/clock.js';
import { Database } from '../../src/platform/database/database.js';
import { AlwaysLeader } from '../../src/platform/jobs/leader.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { cursorAtOldest } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { until } from '../support/until.js';

describeOnEachDatabase('audit event retention', (database) => {
  let lines: Record<string, unknown>[];
  let rows: <T>(sql: string, parameters?: unknown[]) => Promise<T[]>;
  let cursors: SinkCursorRepository;
  let reader: AuditTrailReader;
  let connected: Database;

  beforeAll(async () => {
    const { dataSource } = await database.open();
    rows = (sql, parameters = []) => dataSource.query(sql, parameters);
    connected = new Database(dataSource);
    cursors = new SinkCursorRepository(connected);
    reader = new AuditTrailReader(connected);
  });
  beforeEach(async () => {
    lines = [];
    await rows('TRUNCATE audit_event, audit_sink_cursor');
  });

  /** Each call is a transaction. */
  const fill = (count: number, daysAgo: number) =>
    rows(
      `INSERT INTO audit_event (name, occurred_at, request_id, payload)
       SELECT 'svc.audit.api.called', now() - $1::float8 * interval '1 day', $1::text, '{}' FROM generate_series(1, $2::int)`,
      [daysAgo, count],
    );
  const left = async () => {
    const found = await rows<{ age: string; count: number }>(
      'SELECT request_id AS age, count(*)::int AS count FROM audit_event GROUP BY 1 ORDER BY min(id)',
    );
    return Object.fromEntries(found.map(({ age, count }) => [age, count]));
  };
  const jobOf = ({ days, maxDays }: { days: number; maxDays: number }, sinkNames: string[] = []) =>
    new AuditRetentionJob(
      { config: { auditRetentionDays: days, auditMaxDays: maxDays } },
      { sinkNames },
      connected,
      new Clock(),
      new AlwaysLeader(),
      createLogger('debug', { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) }),
    );
  /** Moves a sink's cursor to after this number of events. */
  const moveCursor = async (name: string, events: number) => {
    await rows(cursorAtOldest(name));
    const { position } = (await cursors.cursorOf(name))!;
    // Transactions of other tests on the same server hold events back for a while.
    let last = position;
    await until('the events are to be seen', 90_000, async () => {
      const { end } = await reader.after(BEGINNING, events);
      if (end !== undefined) last = end;
      return end !== undefined;
    });
    expect(await cursors.move(name, position, last)).toBe(true);
  };

  it('deletes events older than the limit, in as many windows as needed', async () => {
    await fill(2_500, 31);
    await fill(700, 29);
    await jobOf({ days: 30, maxDays: 0 }).run();
    expect(await left()).toEqual({ 29: 700 });
    expect(lines).toEqual([expect.objectContaining({ level: 'debug', deleted: 2_500, missed: 0 })]);
  });

  it('deletes nothing without a limit', async () => {
    jest.useFakeTimers();
    try {
      const job = jobOf({ days: 0, maxDays: 0 });
      await job.onApplicationBootstrap();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('keeps an event with a future timestamp, and deletes older ones after it', async () => {
    await fill(10, 31);
    await fill(5, -1);
    await fill(10, 32);
    await jobOf({ days: 30, maxDays: 0 }).run();
    expect(await left()).toEqual({ '-1': 5 });
  });

  it('keeps events that a sink has not received', async () => {
    await fill(3, 40);
    await fill(3, 39);
    await fill(3, 38);
    await moveCursor('quick', 9);
    await moveCursor('slow', 4);
    await jobOf({ days: 30, maxDays: 0 }, ['quick', 'slow']).run();
    expect(await left()).toEqual({ 39: 2, 38: 3 });
    await jobOf({ days: 30, maxDays: 0 }, ['quick']).run();
    expect(await left()).toEqual({});
  });

  it('keeps all events for a sink without a cursor', async () => {
    await fill(3, 40);
    await jobOf({ days: 30, maxDays: 0 }, ['new']).run();
    expect(await left()).toEqual({ 40: 3 });
    expect(lines).toEqual([]);
  });

  it('keeps all events for a sink whose cursor is ahead of the database, even after it has caught up', async () => {
    await fill(3, 40);
    await moveCursor('restored', 3);
    await rows('UPDATE audit_sink_cursor SET transaction_id = 9000000000000000');
    await jobOf({ days: 30, maxDays: 0 }, ['restored']).run();
    expect(await left()).toEqual({ 40: 3 });
    await cursors.markAhead('restored');
    // Simulates that the database has caught up. In reality this depends on all tests on the same server.
    await rows('UPDATE audit_sink_cursor SET transaction_id = txid_current()');
    await jobOf({ days: 30, maxDays: 0 }, ['restored']).run();
    expect(await left()).toEqual({ 40: 3 });
  });

  it('deletes events at the hard limit, and an error reports how many were missed', async () => {
    await fill(1_200, 100);
    await fill(3, 40);
    await fill(3, 10);
    await moveCursor('slow', 300);
    await jobOf({ days: 30, maxDays: 90 }, ['slow']).run();
    expect(await left()).toEqual({ 40: 3, 10: 3 });
    expect(lines.filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({ missed: 900 }),
    ]);
  });

  it('stops after a batch if it may not go on', async () => {
    await fill(3_000, 40);
    let windows = 0;
    await jobOf({ days: 30, maxDays: 0 }).run(() => ++windows <= 2);
    expect(await left()).toEqual({ 40: 1_000 });
  });
});
