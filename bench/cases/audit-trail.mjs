// Reading the audit trail with ten million events in it against a thousand, and what an exchange writes into the log of the database.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { accessTokens, bearer } from '../support/exchanges.mjs';
import { ISSUER } from '../support/partner.mjs';
import { EXPLAINED, plansOf } from '../support/query-plans.mjs';
import { median } from '../support/statistics.mjs';
import { writtenBy } from '../support/written-log.mjs';

const SMALL = 1_000;
const LARGE = 10_000_000;
const PAGES_A_ROUND = 15;
const MOST_MS = 1_000;
/** So long PostgreSQL may take to write its log. */
const LOG_DELAY_MS = 500;
const EXPLAINED_PAGES = 2;
const WRITING = { exchanges: 3_000, connections: 4 };
const ADMINISTRATOR = {
  sub: 'administrator',
  email: 'administrator@partner.example',
  role: 'global:admin',
};
export const USER = `md5('user 7')::uuid`;
export const RARE_USER = `md5('rare')::uuid`;

const KINDS = [
  ['the newest', ''],
  ['a name of one in 20', 'event=token-exchange.failed'],
  ['the beginning of names', 'event=session.*'],
  ['a reason that none has', 'reason=none'],
  ['an issuer of all', `issuer=${encodeURIComponent(ISSUER)}`],
  ['a user of one in 1,000', 'userId=USER'],
  ['a user with one event', 'userId=RARE'],
  ['a subject of one in 1,000', 'subjectUserId=USER'],
  ['a subject with one event', 'subjectUserId=RARE'],
  ['a subject, a reason that none has', 'subjectUserId=USER&reason=none'],
  ['a request', 'requestId=request-500'],
  ['an hour of the day', 'since=HOUR&until=END'],
];

export const auditTrail = {
  name: 'audit-trail',
  title: `Pages of the audit trail with ${LARGE} events of a day against ${SMALL}, one request after another, on PostgreSQL`,

  async run(workbench) {
    const size = Math.max(SMALL, Math.round(LARGE / workbench.options.growthScale));
    const contestants = [await startFilled(workbench, SMALL), await startFilled(workbench, size)];
    const [small, large] = contestants;
    const rounds = [];
    for (const contestant of contestants) rounds.push(...(await timesOf(workbench, contestant)));
    for (const line of timesInWords(rounds)) workbench.tell(line);
    const walk = await wholeWalk(large, 'reason=none');
    const plans = await readPlans(workbench, large);
    workbench.tell(`whole walk: ${walk.pages} pages, ${walk.seconds} s`);
    await workbench.postgres.query('postgres', 'CHECKPOINT');
    const written = await writtenBy(workbench, large, WRITING);
    await workbench.postgres.query(large.database, 'DROP INDEX audit_event_request');
    await workbench.postgres.query('postgres', 'CHECKPOINT');
    const withoutIndex = await writtenBy(workbench, large, WRITING);
    return {
      times: rounds,
      plans,
      ratios: [],
      remarks: [
        timesInWords(rounds).join('\n'),
        `All ${size} events looked through for a reason that none has: ${walk.pages} pages, ${walk.seconds.toFixed(1)} s.`,
        `Write-ahead log of an exchange, just after a checkpoint: ${written.bytes} bytes; without the index of request ids ${withoutIndex.bytes}.`,
        ...plans.map(({ statement, plan }) => [statement, ...plan.map((line) => `  ${line}`)].join('\n')),
        `Events: ${small.size} and ${large.size}. Bar: no page takes more than ${MOST_MS} ms: ${rounds.every(({ maxMs }) => maxMs <= MOST_MS)}.`,
      ],
    };
  },
};

/** @param moreEnvironment of the service */
export async function startFilled(workbench, size, moreEnvironment = {}) {
  const database = await workbench.newDatabase();
  workbench.tell(`filling ${size} events`);
  await workbench.postgres.inSession(
    database,
    async (client) => {
      const indexes = ['audit_event_subject', 'audit_event_request'];
      for (const index of indexes) await client.query(`DROP INDEX ${index}`);
      await client.query(FILLING, [size, ISSUER]);
      await client.query('CREATE INDEX audit_event_subject ON audit_event (subject_user_id, id)');
      await client.query('CREATE INDEX audit_event_request ON audit_event (request_id, id)');
      await client.query('VACUUM ANALYZE audit_event');
      await client.query('CHECKPOINT');
    },
    { maintenance_work_mem: '512MB', synchronous_commit: 'off' },
  );
  const contestant = await workbench.startService({ name: `${size} events`, database, moreEnvironment });
  const [token] = await accessTokens(contestant, workbench.partner, [ADMINISTRATOR]);
  return { ...contestant, size, token };
}

/** A busy day, evenly: an event in 20 is a refusal, one in 100 the end of a session. */
const FILLING = `INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, payload)
  SELECT CASE WHEN n % 20 = 0 THEN 'svc.audit.token-exchange.failed' WHEN n % 100 = 1 THEN 'svc.audit.session.ended'
      ELSE 'svc.audit.token-exchange.succeeded' END,
    now() - interval '23 hours' * (1 - n::float8 / $1),
    CASE WHEN n = $1 / 2 THEN 'request-500' ELSE gen_random_uuid()::text END,
    CASE WHEN n = $1 / 2 THEN ${RARE_USER} WHEN n % 20 <> 0 THEN md5('user ' || n % 1000)::uuid END,
    jsonb_build_object('issuer', $2::text, 'kid', 'partner-ES256', 'clientAddress', '192.0.2.7')
      || CASE WHEN n % 20 = 0 THEN jsonb_build_object('reason', 'token_expired', 'party', 'subject')
        ELSE jsonb_build_object('accessTokenId', gen_random_uuid(), 'lifetimeSeconds', 60) END
  FROM generate_series(1, $1::int) n`;

async function timesOf(workbench, contestant) {
  const times = [];
  for (const [title, query] of await kindsOf(workbench, contestant)) {
    const milliseconds = [];
    for (let page = 0; page <= PAGES_A_ROUND; page += 1) {
      const begun = performance.now();
      await pageOf(contestant, `limit=50&${query}`);
      milliseconds.push(performance.now() - begun);
    }
    // The first one plans the statement, and reads what lies on the disk.
    const [firstMs, ...others] = milliseconds;
    times.push({
      title: `${title}, ${contestant.size}`,
      firstMs,
      p50Ms: median(others),
      maxMs: Math.max(...milliseconds),
    });
  }
  return times;
}

function timesInWords(rounds) {
  return rounds.map(
    ({ title, firstMs, p50Ms, maxMs }) =>
      `${title}: first ${firstMs.toFixed(1)} ms, then p50 ${p50Ms.toFixed(1)} ms; most ${maxMs.toFixed(1)} ms`,
  );
}

async function kindsOf({ postgres }, { database }) {
  const [{ user, rare }] = await postgres.query(database, `SELECT ${USER} AS user, ${RARE_USER} AS rare`);
  const ago = (hours) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const values = { USER: user, RARE: rare, HOUR: ago(12), END: ago(11) };
  return KINDS.map(([title, query]) => [
    title,
    query.replace(/\b(USER|RARE|HOUR|END)\b/g, (name) => values[name]),
  ]);
}

async function pageOf({ server, token }, query) {
  const answer = await fetch(new URL(`/api/v1/audit-events?${query}`, server.origin), {
    headers: bearer(token),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

async function wholeWalk(contestant, query) {
  const begun = performance.now();
  let pages = 0;
  for (let cursor = ''; cursor !== null; pages += 1)
    cursor = (await pageOf(contestant, `${query}${cursor && `&cursor=${cursor}`}`)).nextCursor;
  return { pages, seconds: (performance.now() - begun) / 1000 };
}

/** Plans of what the service really runs: one more service writes them to the log. */
async function readPlans(workbench, { database }) {
  const explained = await workbench.startService({ name: 'explained', database, settings: EXPLAINED });
  const [token] = await accessTokens(explained, workbench.partner, [ADMINISTRATOR]);
  const stopRecording = workbench.postgres.recordLog();
  for (const [, query] of await kindsOf(workbench, explained))
    for (let page = 0; page < EXPLAINED_PAGES; page += 1)
      await pageOf({ ...explained, token }, `limit=50&${query}`);
  await delay(LOG_DELAY_MS);
  const plans = plansOf(stopRecording(), EXPLAINED_PAGES);
  await workbench.stop(explained.server);
  return plans.filter(({ statement }) => /FROM audit_event/.test(statement));
}
