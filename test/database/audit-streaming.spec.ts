// The audit trail as a stream: its order, what holds it back, the cursors, and the sinks that it goes to, on real servers.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { AuditTrailReader } from '../../src/audit/audit-trail.reader.js';
import { AuditTrailRepository } from '../../src/audit/audit-trail.repository.js';
import type { AuditSink } from '../../src/audit/sinks/audit-sink.js';
import { streamedEvent } from '../../src/audit/sinks/audit-sink.js';
import { AuditStreaming } from '../../src/audit/sinks/audit-streaming.js';
import { BEGINNING, SinkCursorRepository } from '../../src/audit/sinks/sink-cursor.repository.js';
import { SinkStream } from '../../src/audit/sinks/sink-stream.js';
import { SyslogSink } from '../../src/audit/sinks/syslog.sink.js';
import { WebhookSink } from '../../src/audit/sinks/webhook.sink.js';
import type { Position } from '../../src/audit/trail-statements.sql.js';
import { Clock } from '../../src/platform/clock.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { AlwaysLeader } from '../../src/platform/jobs/leader.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { auditEvent } from '../../src/token-exchange/audit/audit-trail.js';
import { cursorAtOldest, untilTrailIsSettled } from '../support/audit.js';
import { SyslogReceiver, WebhookReceiver } from '../support/audit-receivers.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { makeSelfSignedCertificate } from '../support/self-signed-certificate.js';
import { TestClock } from '../support/test-clock.js';
import { until } from '../support/until.js';

const SECRET = 'a secret of thirty-two characters';
/** A transaction of another test file on the same server holds the stream back too. */
const SEEN_MS = 90_000;
const FAILED = 'svc.audit.token-exchange.failed';

const event = (requestId: string) =>
  auditEvent(FAILED, { occurredAt: new Date(), requestId }, { flow: 'exchange', reason: 'token_replayed' });

const CREDENTIALS_REFUSED =
  'the receiver refuses the credentials in SVC_AUDIT_WEBHOOK_HEADERS, SVC_AUDIT_WEBHOOK_URL or SVC_AUDIT_WEBHOOK_SECRET';

/** What an operator runs after a restore, without its transaction. */
function repairOfDocs(): string {
  const [, section = ''] = readFileSync('docs/reference/audit-streams.md', 'utf8').split(
    '## After a restore',
  );
  return /UPDATE audit_sink_cursor[^;]+;/.exec(section)![0];
}

/** What the tests of both blocks do to a trail. */
class Trail {
  readonly reader: AuditTrailReader;
  readonly cursors: SinkCursorRepository;
  private readonly writer: AuditTrailRepository;

  /** @param hasOpenTransactions if the test opens transactions; then the trail does not wait for other tests on the server */
  constructor(
    private readonly opened: OpenDatabase,
    private readonly hasOpenTransactions = false,
  ) {
    const database = new Database(opened.dataSource);
    this.reader = new AuditTrailReader(database);
    this.cursors = new SinkCursorRepository(database);
    this.writer = new AuditTrailRepository(database);
  }

  rows<T>(sql: string, parameters: unknown[] = []): Promise<T[]> {
    return this.opened.dataSource.query<T[]>(sql, parameters);
  }

  async empty(): Promise<void> {
    await this.rows('TRUNCATE audit_event, audit_sink_cursor');
  }

  /** Each in a transaction of its own. */
  async write(...requestIds: string[]): Promise<void> {
    for (const requestId of requestIds) await this.writer.append([event(requestId)]);
    if (!this.hasOpenTransactions) await this.settled();
  }

  async settled(): Promise<void> {
    await untilTrailIsSettled((sql) => this.rows(sql));
  }

  /** Many at once. */
  async fill(count: number, daysAgo = 0): Promise<void> {
    await this.rows(
      `INSERT INTO audit_event (name, occurred_at, request_id, payload)
       SELECT $1, now() - $2::int * interval '1 day', 'request-' || n, '{}' FROM generate_series(1, $3::int) AS n`,
      [FAILED, daysAgo, count],
    );
    if (!this.hasOpenTransactions) await this.settled();
  }

  async read(position = BEGINNING, limit = 100): Promise<string[]> {
    const { events } = await this.reader.after(position, limit);
    return events.map(({ event }) => event.requestId);
  }

  async ids(): Promise<string[]> {
    const rows = await this.rows<{ id: string }>('SELECT id FROM audit_event ORDER BY transaction_id, id');
    return rows.map(({ id }) => id);
  }

  async cursor(name: string): Promise<Position | undefined> {
    return (await this.cursors.cursorOf(name))?.position;
  }
}

describeOnEachDatabase('the audit event stream', (database) => {
  let trail: Trail;
  let webhook: WebhookReceiver;
  let syslog: SyslogReceiver;
  let lines: Record<string, unknown>[];
  const sinks: AuditSink[] = [];
  const clock = new TestClock();

  beforeAll(async () => {
    trail = new Trail(await database.open());
  });
  beforeEach(async () => {
    await trail.empty();
    for (const name of ['webhook', 'syslog']) await trail.rows(cursorAtOldest(name));
    lines = [];
    webhook = await WebhookReceiver.listen(SECRET);
    syslog = await SyslogReceiver.listen();
  });
  afterEach(async () => {
    for (const sink of sinks.splice(0)) await sink.close();
    await Promise.all([webhook.die(), syslog.die()]);
  });

  const webhookSettings = () => ({
    url: webhook.url,
    secrets: [SECRET],
    headers: [['authorization', 'Splunk token'] as const],
    allowHttp: true,
    allowPrivate: [],
  });
  const opened = <S extends AuditSink>(sink: S): S => {
    sinks.push(sink);
    return sink;
  };
  const webhookSink = (settings = {}) =>
    opened(new WebhookSink({ ...webhookSettings(), ...settings }, new Clock()));
  const syslogSink = () => {
    const port = Number(new URL(syslog.url).port);
    const settings = { host: '127.0.0.1', port, useTls: false };
    return opened(new SyslogSink(settings, 'instance.example'));
  };
  const parts = () => ({
    trail: trail.reader,
    cursors: trail.cursors,
    clock,
    log: createLogger('info', { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) }),
  });
  const streamTo = (sink: AuditSink) => new SinkStream(sink, parts());
  const run = (stream: SinkStream) => stream.run(() => true, new AbortController().signal);
  const reasons = () => lines.map(({ reason }) => reason);

  it('[D87] delivers every event once, in the order of transactions and with all properties', async () => {
    await trail.write('a', 'b');
    await run(streamTo(webhookSink()));
    const [row] = await trail.rows<Record<string, string>>(
      `SELECT id, to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "occurredAt" FROM audit_event ORDER BY id LIMIT 1`,
    );
    expect(webhook.arrived[0]).toEqual({
      id: row!['id'],
      event: FAILED,
      occurredAt: row!['occurredAt'],
      requestId: 'a',
      subjectUserId: null,
      actorUserId: null,
      payload: { flow: 'exchange', reason: 'token_replayed' },
    });
    const { events } = await trail.reader.after(BEGINNING, 10);
    expect(await trail.read(events[0]!.position)).toEqual(['b']);
    expect(await trail.read(events[1]!.position)).toEqual([]);
    expect(await trail.read(BEGINNING, 1)).toEqual(['a']);
  });

  it('[D87] starts with new events for a new sink', async () => {
    await trail.rows('DELETE FROM audit_sink_cursor');
    await trail.write('before');
    const stream = streamTo(webhookSink());
    await run(stream);
    await trail.write('after');
    await run(stream);
    expect(webhook.arrived.map(({ requestId }) => requestId)).toEqual(['after']);
  });

  it('[D87] finds a moved cursor after a pause between delivery and cursor, and loses nothing', async () => {
    await trail.write('a', 'b');
    const sink = webhookSink();
    const former = streamTo(sink);
    const deliver = sink.deliver.bind(sink);
    sink.deliver = async (events, signal) => {
      await deliver(events, signal);
      sink.deliver = deliver;
      await run(streamTo(webhookSink()));
      await trail.write('c');
      await run(streamTo(webhookSink()));
    };
    await run(former);
    await trail.write('d');
    await run(former);
    expect(webhook.firstArrivals).toEqual(await trail.ids());
    expect(webhook.arrived.map(({ requestId }) => requestId).join(' ')).toBe('a b a b c d');
    expect(await trail.cursor('webhook')).toMatchObject({ eventId: (await trail.ids()).at(-1) });
    expect(lines).toEqual([]);
  });

  it('[D87] delivers thousands of events in several posts to two sinks at once', async () => {
    await trail.fill(1700);
    const streams = [streamTo(webhookSink()), streamTo(syslogSink())];
    await Promise.all(streams.map(run));
    const expected = await trail.ids();
    await until('both have them', SEEN_MS, () => syslog.arrived.length === expected.length);
    expect(webhook.arrived.map(({ id }) => id)).toEqual(expected);
    expect(syslog.arrived.map(({ id }) => id)).toEqual(expected);
    expect(webhook.requests).toBe(4);
  });

  it('sends posts with a signature, a time and at most one mebibyte', async () => {
    // 300,000 octets.
    const text = 'é'.repeat(150_000);
    for (let index = 0; index < 8; index++)
      await trail.rows(
        `INSERT INTO audit_event (name, occurred_at, request_id, payload) VALUES ($1, now(), 'r', jsonb_build_object('text', $2::text))`,
        [FAILED, text],
      );
    await trail.settled();
    await run(streamTo(webhookSink()));
    expect(webhook.arrived.map(({ id }) => id)).toEqual(await trail.ids());
    expect(webhook.requests).toBe(3);
    expect(webhook.lastHeaders).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Splunk token',
    });
    expect(webhook.lastHeaders['x-audit-signature']).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
  });

  it.each<[string, number, Record<string, string>, string]>([
    ['a redirect', 307, { location: 'http://127.0.0.1:1/' }, 'redirects are not followed (status 307)'],
    ['a fault', 503, {}, 'status 503'],
    ['unauthorized', 401, {}, `status 401: ${CREDENTIALS_REFUSED}`],
    ['forbidden', 403, {}, `status 403: ${CREDENTIALS_REFUSED}, or a firewall the content`],
  ])(
    'keeps events if the receiver answers with %s, and delivers them later',
    async (_, code, headers, reason) => {
      await trail.write('a');
      const stream = streamTo(webhookSink());
      webhook.answerWith((response) => response.writeHead(code, headers).end());
      await run(stream);
      await run(stream);
      expect(webhook.requests).toBe(1);
      expect(reasons()).toEqual([reason]);
      expect(await trail.cursor('webhook')).toEqual(BEGINNING);

      webhook.answerWith(undefined);
      clock.advance(61);
      await run(stream);
      expect(webhook.arrived).toHaveLength(1);
      expect(lines.map(({ msg }) => msg)).toEqual([
        'a sink of the audit trail receives no events; they are kept for it',
        'a sink of the audit trail receives events again',
      ]);
      expect(stream.counts).toEqual({ delivered: 1, failures: 1 });
    },
  );

  it.each([
    ['seconds', () => '120', 120],
    ['a date', () => new Date(Date.now() + 120_000).toUTCString(), 120],
    ['more than an hour', () => '86400', 3600],
  ])('waits as long as Retry-After says: %s', async (_, valueNow, seconds) => {
    await trail.write('a');
    const stream = streamTo(webhookSink());
    webhook.answerWith((response) => response.writeHead(429, { 'retry-after': valueNow() }).end());
    await run(stream);
    clock.advance(seconds - 5);
    await run(stream);
    expect(webhook.requests).toBe(1);
    clock.advance(6);
    await run(stream);
    expect(webhook.requests).toBe(2);
  });

  it.each(['soon', '-5', '1.5', ''])('ignores a Retry-After of "%s"', async (value) => {
    await trail.write('a');
    const stream = streamTo(webhookSink());
    webhook.answerWith((response) => response.writeHead(429, { 'retry-after': value }).end());
    await run(stream);
    clock.advance(2);
    await run(stream);
    expect(webhook.requests).toBe(2);
  });

  it('splits a batch that is too large', async () => {
    await trail.fill(64);
    const stream = streamTo(webhookSink());
    webhook.answerWith((response) => response.writeHead(413).end());
    for (let attempt = 0; attempt < 9; attempt++) {
      await run(stream);
      clock.advance(61);
    }
    webhook.answerWith(undefined);
    const before = webhook.requests;
    await run(stream);
    expect(webhook.arrived.map(({ id }) => id)).toEqual(await trail.ids());
    // 1, 2, 4, 8, 16, 32 and the one that is left
    expect(webhook.requests - before).toBe(7);
  });

  it.each([
    ['loopback', { allowHttp: false }],
    [
      'a private network beside an allowed one',
      { url: 'http://10.0.0.1/', allowPrivate: ['192.168.0.0/16'] },
    ],
  ])('posts nothing to an address that is not public: %s', async (_, settings) => {
    await trail.write('a');
    await run(streamTo(webhookSink(settings)));
    expect(webhook.requests).toBe(0);
    expect(String(reasons()[0])).toMatch(
      /^the address .* is not public and not allowed by the configuration \(see SVC_AUDIT_WEBHOOK_ALLOW_.*\)$/,
    );
  });

  it('repeats the last 60 seconds to syslog after a lost connection', async () => {
    const stream = streamTo(syslogSink());
    await trail.write('long ago');
    await run(stream);
    clock.advance(40);
    await trail.write('lately');
    await run(stream);
    await until('both are there', SEEN_MS, () => syslog.arrived.length === 2);
    expect(await trail.cursor('syslog')).toEqual(BEGINNING);
    clock.advance(21);
    await run(stream);
    expect(await trail.cursor('syslog')).toMatchObject({ eventId: (await trail.ids())[0] });

    syslog.breakConnections();
    await until('it is seen', SEEN_MS, () => !stream.sink.isIntact());
    await trail.write('afterwards');
    clock.advance(61);
    await run(stream);
    await run(stream);
    await until('it was sent again', SEEN_MS, () => syslog.arrived.length === 4);
    expect(syslog.arrived.map(({ requestId }) => requestId)).toEqual([
      'long ago',
      'lately',
      'lately',
      'afterwards',
    ]);
    // Time that passed before the break does not confirm events that are sent after it.
    expect(await trail.cursor('syslog')).toMatchObject({ eventId: (await trail.ids())[0] });
  });

  it('advances although no connection lasts 60 seconds, and reports it', async () => {
    const stream = streamTo(syslogSink());
    await trail.write('a', 'b');
    const cut = async (seconds: number) => {
      await run(stream);
      clock.advance(seconds);
      syslog.endConnections();
      await until('it is seen', SEEN_MS, () => !stream.sink.isIntact());
    };
    await cut(25);
    await cut(25);
    // Sent twice over, and not long enough ago.
    await run(stream);
    expect(await trail.cursor('syslog')).toEqual(BEGINNING);
    await trail.write('c');
    await cut(25);
    await run(stream);
    const ids = await trail.ids();
    expect(await trail.cursor('syslog')).toMatchObject({ eventId: ids[1] });
    await until('only the last came again', SEEN_MS, () => syslog.arrived.length === 8);
    expect(syslog.arrived.map(({ requestId }) => requestId).join('')).toBe('abababcc');
    expect(stream.counts.failures).toBe(3);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the connection to a sink of the audit trail broke: the last events are sent again',
    ]);
  });

  it('confirms nothing on connections that end in errors, and the lag reports it', async () => {
    const stream = streamTo(syslogSink());
    await trail.write('a');
    for (let connection = 1; connection <= 6; connection++) {
      await run(stream);
      await until('it has come', SEEN_MS, () => syslog.arrived.length === connection);
      clock.advance(50);
      syslog.breakConnections();
      await until('it is seen', SEEN_MS, () => !stream.sink.isIntact());
    }
    await run(stream);
    expect(await trail.cursor('syslog')).toEqual(BEGINNING);
    expect(stream.counts.failures).toBe(6);
    expect(stream.backlog).toMatchObject({ events: 0, seconds: 240 });
  });

  it('retries an unreachable syslog server with growing delays', async () => {
    await trail.write('a');
    await syslog.die();
    const stream = streamTo(syslogSink());
    await run(stream);
    await run(stream);
    expect(reasons()).toEqual(['the connection failed (ECONNREFUSED)']);
    expect(stream.counts.failures).toBe(1);
    await syslog.comeBack();
    clock.advance(1);
    await run(stream);
    await until('it has it', SEEN_MS, () => syslog.arrived.length === 1);
    expect(syslog.messages[0]).toMatch(
      /^<108>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z instance\.example embedded-token-exchange - failed - \{"id"/,
    );
  });

  it('[D87] reports the backlog in events and seconds', async () => {
    await trail.fill(3, 2);
    webhook.answerWith((response) => response.writeHead(500).end());
    const stream = streamTo(webhookSink());
    await run(stream);
    expect(stream.backlog).toBeUndefined();
    clock.advance(1);
    const noted = await trail.cursors.backlogAfter(BEGINNING);
    expect(noted.events).toBe(3);
    expect(noted.seconds).toBeGreaterThan(2 * 86_400 - 1);
    expect(noted.seconds).toBeLessThan(2 * 86_400 + 3_600);
    webhook.answerWith(undefined);
    clock.advance(60);
    await run(stream);
    expect(stream.backlog).toMatchObject({ events: 0, seconds: 0, blockedSeconds: 0 });
  });

  it('[D87] reports the backlog during a large delivery', async () => {
    await trail.fill(1_700);
    const sink = webhookSink();
    const stream = streamTo(sink);
    const told: unknown[] = [];
    const deliver = sink.deliver.bind(sink);
    sink.deliver = async (events, signal) => {
      told.push(stream.backlog?.events);
      clock.advance(6);
      await deliver(events, signal);
    };
    await run(stream);
    expect(told).toEqual([undefined, 1_200, 700, 200]);
  });

  it('[D87] refuses a database that lacks earlier events', async () => {
    await trail.write('a', 'b');
    const stream = streamTo(webhookSink());
    webhook.answerWith((response) => response.writeHead(503).end());
    await run(stream);
    // As a standby that took over before it had the last one, and gave its numbers again.
    await trail.rows(`UPDATE audit_event SET request_id = 'b, of the standby' WHERE request_id = 'b'`);
    webhook.answerWith(undefined);
    clock.advance(61);
    await run(stream);
    expect(webhook.arrived.map(({ requestId }) => requestId)).toEqual(['a', 'b, of the standby']);
  });

  it('[D87] still refuses it once its position has caught up, until an operator sets the cursor', async () => {
    await trail.rows('UPDATE audit_sink_cursor SET transaction_id = 9000000000000000, event_id = 0');
    const stream = streamTo(webhookSink());
    await run(stream);
    // As if the database had come as far: how fast it comes there is up to all tests on its server.
    await trail.rows('UPDATE audit_sink_cursor SET transaction_id = txid_current()');
    for (let number = 0; number < 10; number++) {
      await trail.write(`restored ${number}`);
      clock.advance(61);
      await run(stream);
    }
    expect(webhook.arrived).toEqual([]);
    await run(stream);
    expect(stream.backlog).toMatchObject({ events: 10 });
    await trail.rows(repairOfDocs());
    clock.advance(61);
    await run(stream);
    expect(webhook.arrived.map(({ requestId }) => requestId)).toHaveLength(10);
  });

  it('names a removed sink at startup', async () => {
    await trail.rows(`UPDATE audit_sink_cursor SET name = 'former' WHERE name = 'syslog'`);
    const streaming = new AuditStreaming([webhookSink()], { ...parts(), leader: new AlwaysLeader() });
    await streaming.onApplicationBootstrap();
    await streaming.beforeApplicationShutdown();
    expect(lines.map(({ sink, msg }) => [sink, String(msg).split(':')[0]])).toEqual([
      ['former', 'a sink of the audit trail is no longer configured'],
    ]);
  });
});

describeOnPostgresql('the audit event stream with concurrent transactions', (database) => {
  let trail: Trail;
  let other: pg.Client;

  beforeAll(async () => {
    trail = new Trail(await database.open(), true);
    if (database.settings.kind !== 'postgresql') throw new Error('it needs several connections');
    other = new pg.Client({ connectionString: database.settings.url });
    await other.connect();
  });
  beforeEach(() => trail.empty());
  afterAll(() => other.end());

  const insertion = (requestId: string) =>
    `INSERT INTO audit_event (name, occurred_at, request_id, payload) VALUES ('${FAILED}', now(), '${requestId}', '{}')`;

  it('[D87] waits for an open transaction, and delivers its events in order', async () => {
    await trail.write('before');
    await trail.settled();
    await other.query('BEGIN');
    await other.query(insertion('slow'));
    await trail.write('quick');
    await other.query(insertion('slow, at its end'));
    expect(await trail.read()).toEqual(['before']);
    await pause(50);
    const blocked = await trail.cursors.backlogAfter(BEGINNING);
    expect(blocked.events).toBe(2);
    expect(blocked.blockedSeconds).toBeGreaterThan(0.04);
    await other.query('COMMIT');
    // By id the quick one would come before the end of the slow transaction.
    await until('it is seen', SEEN_MS, async () => (await trail.read()).length === 4);
    expect(await trail.read()).toEqual(['before', 'slow', 'slow, at its end', 'quick']);
    expect((await trail.cursors.backlogAfter(BEGINNING)).blockedSeconds).toBe(0);
  });

  it('sends over TLS only to a server with a trusted certificate', async () => {
    const identity = makeSelfSignedCertificate('localhost');
    const syslog = await SyslogReceiver.listen(identity);
    const port = Number(new URL(syslog.url).port);
    const settings = { host: 'localhost', port, useTls: true };
    const { signal } = new AbortController();
    const stranger = new SyslogSink(settings, 'h');
    const sink = new SyslogSink({ ...settings, ca: identity.cert }, 'h');
    try {
      await expect(stranger.connect(signal)).rejects.toThrow(/DEPTH_ZERO_SELF_SIGNED_CERT/);
      await expect(sink.connect(signal)).resolves.toBe(true);
      await trail.write('a');
      await until('it is seen', SEEN_MS, async () => (await trail.read()).length === 1);
      const { events } = await trail.reader.after(BEGINNING, 1);
      await sink.deliver(events.map(streamedEvent), signal);
      await until('it has it', SEEN_MS, () => syslog.arrived.length === 1);
      await expect(sink.connect(signal)).resolves.toBe(false);
    } finally {
      await Promise.all([stranger.close(), sink.close()]);
      await syslog.die();
    }
  });
});
