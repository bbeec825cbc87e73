// Pages of the audit trail: exactly the events that are asked for, in order, while others are written and times lie out of order.
import type { DataSource } from 'typeorm';
import type { StoredEvent } from '../../src/audit/audit-trail.reader.js';
import { AuditTrailReader } from '../../src/audit/audit-trail.reader.js';
import type { TimeRange, TrailFilter, TrailPlace } from '../../src/audit/trail-filter.js';
import type { Position, TrailOrder } from '../../src/audit/trail-statements.sql.js';
import { ORDERS } from '../../src/audit/trail-statements.sql.js';
import { Database } from '../../src/platform/database/database.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { randomFrom } from '../support/random.js';
import { until } from '../support/until.js';

/** A transaction of another test on the same server holds back what follows. */
const SEEN_MS = 90_000;
const ROWS = 12_000;
const START = Date.UTC(2031, 4, 1);
const HOUR = 3_600_000;
const USERS = [1, 2].map((number) => `a1b2c3d4-0000-4000-8000-00000000000${number}`);
const [ADA = '', BOB = ''] = USERS;
const FAILED = 'svc.audit.token-exchange.failed';
const HASH = Buffer.from('a');
const OF_ADA = `subject_user_id = '${ADA}' OR person_hashes = ARRAY['\\x61'::bytea]`;

/** Events about twelve seconds apart. Their times deviate from the id order by up to four minutes; every 1000th id is missing. */
const FILLING = `INSERT INTO audit_event (id, name, occurred_at, request_id, subject_user_id, actor_user_id, payload, person_hashes)
  OVERRIDING SYSTEM VALUE
  SELECT n, CASE n % 7 WHEN 0 THEN '${FAILED}' WHEN 1 THEN 'svc.audit.token-exchange.embed-login-failed'
      WHEN 2 THEN 'svc.audit.session.ended' ELSE 'svc.audit.token-exchange.embed-login' END,
    to_timestamp($1::float8 / 1000) + make_interval(secs => n * 12 + (n * 7919 % 480) - 240),
    'request-' || n / 3, CASE WHEN n % 5 = 0 THEN '${ADA}'::uuid WHEN n % 5 = 1 THEN '${BOB}'::uuid END,
    CASE WHEN n % 11 = 0 THEN '${ADA}'::uuid END,
    jsonb_build_object('issuer', 'https://' || n % 3 || '.example', 'kid', (n % 13)::text, 'reason',
      CASE WHEN n = 4321 THEN 'rare' ELSE 'token_replayed' END),
    CASE n % 17 WHEN 0 THEN ARRAY['\\x61'::bytea] WHEN 1 THEN ARRAY['\\x62'::bytea] END
  FROM generate_series(1, ${ROWS}) n WHERE n % 1000 <> 0`;

const CASES: readonly (readonly [string, TrailFilter, string])[] = [
  ['none', {}, 'true'],
  ['a name', { event: FAILED }, `name = '${FAILED}'`],
  [
    'a name that begins another',
    { event: 'svc.audit.token-exchange.embed-login' },
    `name = 'svc.audit.token-exchange.embed-login'`,
  ],
  [
    'the beginning of names',
    { event: 'svc.audit.token-exchange.embed*' },
    `name LIKE 'svc.audit.token-exchange.embed%'`,
  ],
  ['a user', { userId: ADA }, `'${ADA}' IN (subject_user_id, actor_user_id)`],
  ['a subject', { subjectUserId: ADA }, `subject_user_id = '${ADA}'`],
  ['an issuer', { issuer: 'https://1.example' }, `payload->>'issuer' = 'https://1.example'`],
  ['a reason', { reason: 'rare' }, `payload->>'reason' = 'rare'`],
  [
    'names, and the beginning of others',
    { event: ['svc.audit.session.ended', 'svc.audit.token-exchange.f*'] },
    `name IN ('svc.audit.session.ended', '${FAILED}')`,
  ],
  ['a key', { kid: '4' }, `payload->>'kid' = '4'`],
  ['a person', { person: { userId: ADA, hashes: [HASH] } }, OF_ADA],
  ['a person without a user', { person: { hashes: [HASH] } }, `person_hashes = ARRAY['\\x61'::bytea]`],
  ['a request', { requestId: 'request-77' }, `request_id = 'request-77'`],
  [
    'all at once',
    {
      event: 'svc.audit.*',
      userId: ADA,
      subjectUserId: ADA,
      issuer: 'https://0.example',
      reason: 'token_replayed',
    },
    `subject_user_id = '${ADA}' AND payload->>'issuer' = 'https://0.example' AND payload->>'reason' = 'token_replayed'`,
  ],
];
const RANGES: readonly (readonly [string, TimeRange])[] = [
  ['all of it', {}],
  ['some hours', { since: new Date(START + 10 * HOUR), until: new Date(START + 17 * HOUR) }],
  ['from a moment on', { since: new Date(START + 30 * HOUR) }],
  ['a time before it', { since: new Date(START - 30 * HOUR), until: new Date(START - 20 * HOUR) }],
  ['a time after it', { since: new Date(START + 300 * HOUR) }],
];

describeOnEachDatabase('[D85] the audit trail reader', (database) => {
  let dataSource: DataSource;
  let reader: AuditTrailReader;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    await dataSource.query(FILLING, [START]);
    await dataSource.query(`SELECT setval(pg_get_serial_sequence('audit_event', 'id'), ${ROWS})`);
    reader = new AuditTrailReader(new Database(dataSource));
  });

  const walked = async (
    { range, ...query }: { filter: TrailFilter; range: TimeRange; order: TrailOrder },
    limitOf: () => number,
    between: () => Promise<unknown> = () => Promise.resolve(),
  ) => {
    const events: StoredEvent[] = [];
    let place: TrailPlace | undefined = { range };
    do {
      const limit = limitOf();
      const page = await reader.page({ ...query, place, limit });
      expect(page.events.length).toBeLessThanOrEqual(limit);
      events.push(...page.events);
      place = page.next;
      await between();
    } while (place !== undefined);
    return events.map(({ id }) => Number(id));
  };
  const expected = async (where: string, { since, until: end }: TimeRange, order: TrailOrder) => {
    const rows = await dataSource.query<{ id: string }[]>(
      `SELECT id FROM audit_event WHERE (${where}) AND occurred_at >= coalesce($1, '-infinity'::timestamptz)
         AND occurred_at < coalesce($2, 'infinity'::timestamptz) ORDER BY id ${order === 'newest' ? 'DESC' : 'ASC'}`,
      [since ?? null, end ?? null],
    );
    return rows.map(({ id }) => Number(id));
  };

  describe.each(ORDERS)('%s first', (order) => {
    it.each(CASES)('[D85] filter: %s', async (_, filter, where) => {
      const random = randomFrom(85);
      for (const [, range] of RANGES)
        expect(await walked({ filter, range, order }, () => 400 + random.below(2_000))).toEqual(
          await expected(where, range, order),
        );
    });
  });

  it('[D85] ends a page after a maximum of searched rows, and the next page continues there', async () => {
    const query = { filter: { reason: 'none' }, order: 'newest', limit: 5 } as const;
    await dataSource.query(
      FILLING.replaceAll('SELECT n,', `SELECT n + ${ROWS},`).replace(`(1, ${ROWS})`, '(1, 60000)'),
      [START],
    );
    try {
      const first = await reader.page({ ...query, place: { range: {} } });
      expect(first).toMatchObject({ events: [], lookedBackTo: expect.any(Date) });
      expect(Number(first.next?.id)).toBeGreaterThan(ROWS);
      const second = await reader.page({ ...query, place: first.next! });
      expect(second).toEqual({ events: [], next: undefined, lookedBackTo: undefined });
    } finally {
      await dataSource.query(`DELETE FROM audit_event WHERE id > ${ROWS}`);
    }
  });

  it('[D85] returns no next page after a full last page', async () => {
    const query = {
      filter: { requestId: 'request-77' },
      place: { range: {} },
      order: 'newest',
    } as const;
    expect((await reader.page({ ...query, limit: 3 })).next).toBeUndefined();
    expect((await reader.page({ ...query, limit: 2 })).next).toMatchObject({ id: '232' });
  });

  it('[D85] returns all events of a request in order, with everything stored', async () => {
    const events = await reader.ofRequest('request-77');
    expect(events.map(({ id }) => id)).toEqual(['231', '232', '233']);
    expect(events[0]).toEqual({
      id: '231',
      event: FAILED,
      occurredAt: expect.any(Date),
      requestId: 'request-77',
      subjectUserId: BOB,
      actorUserId: ADA,
      payload: { issuer: 'https://0.example', kid: '10', reason: 'token_replayed' },
    });
    expect(await reader.ofRequest('request')).toEqual([]);
  });

  it('[D85] returns the same later pages if events are written or deleted meanwhile', async () => {
    const random = randomFrom(86);
    const insert = () =>
      dataSource.query(
        `INSERT INTO audit_event (name, occurred_at, request_id, payload) VALUES ($1, now(), 'new', '{}')`,
        [FAILED],
      );
    const before = await expected(`name = '${FAILED}'`, {}, 'newest');
    const seen = await walked(
      { filter: { event: FAILED }, range: {}, order: 'newest' },
      () => 50 + random.below(100),
      insert,
    );
    expect(seen).toEqual(before);
    await dataSource.query(`DELETE FROM audit_event WHERE id > ${ROWS}`);
  });
});

describeOnPostgresql('[D87] following the audit trail', (database) => {
  let dataSource: DataSource;
  let reader: AuditTrailReader;
  const insertion = (request: string) =>
    [
      `INSERT INTO audit_event (name, occurred_at, request_id, payload) VALUES ('${FAILED}', now(), $1, '{}')`,
      [request],
    ] as const;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    reader = new AuditTrailReader(new Database(dataSource));
  });

  it('[D87] returns events of transactions that were open at the start, each event once', async () => {
    const early = dataSource.createQueryRunner();
    const requestsUpTo = async ({ transactionId }: Position) => {
      const query = { filter: { upToTransaction: transactionId }, place: { range: {} }, limit: 10 };
      const { events } = await reader.page({ ...query, order: 'newest' });
      return events.map(({ requestId }) => requestId);
    };
    await dataSource.query(...insertion('before'));
    await until('the first', SEEN_MS, async () => (await requestsUpTo(await reader.present())).length === 1);
    await early.startTransaction();
    await early.query(...insertion('early'));
    await dataSource.query(...insertion('beside'));
    const stop = new AbortController();
    const present = await reader.present();
    const told = await requestsUpTo(present);
    let looks = 0;
    const following = (async () => {
      for await (const page of reader.follow(present, {}, stop.signal)) {
        told.push(...page.map(({ requestId }) => requestId));
        looks += 1;
      }
    })();
    await until('two looks', SEEN_MS, () => looks >= 2);
    expect(told).toEqual(['before']);
    await early.commitTransaction();
    await dataSource.query(...insertion('last'));
    await until('all of them', SEEN_MS, () => told.length >= 4);
    stop.abort();
    await following;
    expect(told).toEqual(['before', 'early', 'beside', 'last']);
    await early.release();
  });

  it('[D87] returns only the matching ones of thousands of simultaneous events', async () => {
    const stop = new AbortController();
    const present = await reader.present();
    await dataSource.query(
      `INSERT INTO audit_event (name, occurred_at, request_id, payload)
       SELECT CASE n % 2 WHEN 0 THEN '${FAILED}' ELSE 'other' END, now(), n::text, '{}' FROM generate_series(1, 4500) n`,
    );
    const told: string[] = [];
    for await (const page of reader.follow(present, { event: FAILED }, stop.signal)) {
      told.push(...page.map(({ requestId }) => requestId));
      if (told.length >= 2_250) stop.abort();
    }
    expect(told).toEqual(Array.from({ length: 2_250 }, (_, index) => String(2 * index + 2)));
  });
});
