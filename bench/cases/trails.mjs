// Reads audit trails with ten million and with a thousand events, by the API and with the operator page's requests.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { withoutIndexes } from '../support/growth.mjs';
import { callJson, loginAdministrator } from '../support/json-calls.mjs';
import { ISSUER } from '../support/partner.mjs';
import { table } from '../support/report.mjs';
import { median, spread } from '../support/statistics.mjs';

const SMALL = 1_000;
const LARGE = 10_000_000;
const CALLS_A_KIND = 15;
const MAX_MS = 1_000;
const EMAIL = 'operator@bench.example';
const PASSWORD = randomBytes(24).toString('hex');
const COMMAND = join(import.meta.dirname, '..', '..', 'dist', 'src', 'cli', 'svc-admin.js');
const USER = `md5('user 7')::uuid`;
const ABSENT_REASON = 'kid_unknown';
const RARE_USER = `md5('rare')::uuid`;

const PAGES = [
  ['the newest', ''],
  ['a name of one in 20', 'event=token-exchange.failed'],
  ['the beginning of names', 'event=session.*'],
  ['a reason that none has', `reason=${ABSENT_REASON}`],
  ['an issuer of all', `issuer=${encodeURIComponent(ISSUER)}`],
  ['a user of one in 1,000', 'userId=USER'],
  ['a user with one event', 'userId=RARE'],
  ['a subject of one in 1,000', 'subjectUserId=USER'],
  ['a subject with one event', 'subjectUserId=RARE'],
  ['a subject, a reason that none has', `subjectUserId=USER&reason=${ABSENT_REASON}`],
  ['a request', 'requestId=request-500'],
  ['an hour of the day', 'since=HOUR&until=END'],
];
const COUNTS = [
  ['counts of the last hour', 'lastHours=1&buckets=30'],
  ['counts of the last day', 'lastHours=24&buckets=48'],
  ['counts of the last 31 days', 'lastHours=744&buckets=62'],
];
const REFUSALS = [
  ['the newest refusals', {}],
  ['refusals of the last 31 days, of an issuer of all', { issuer: ISSUER, lastHours: 744 }],
  ['refusals for a reason that none has', { reason: ABSENT_REASON }],
  ['refusals of a user of one in 1,000', { user: 'USER' }],
  ['refusals of a user with one event', { user: 'RARE' }],
  ['refusals of a request', { requestId: 'request-500' }],
];

export const auditTrail = {
  name: 'audit-trail',
  title: `Pages of the audit trail with ${LARGE} events of a day against ${SMALL}, one request after another, on PostgreSQL`,

  async run(workbench) {
    return reported(await timesOfBoth(workbench, pageCalls));
  },
};

export const operatorTrail = {
  name: 'operator-trail',
  title: `What the operator's page asks of a trail with ${LARGE} events of a day against ${SMALL}, one call after another, on PostgreSQL`,

  async run(workbench) {
    return reported(await timesOfBoth(workbench, operatorCalls, { SVC_ADMIN_ENABLED: 'true' }));
  },
};

/** @param callsOf returns the titled calls to a service */
async function timesOfBoth(workbench, callsOf, moreEnvironment) {
  const size = Math.max(SMALL, Math.round(LARGE / workbench.options.growthScale));
  const times = [];
  for (const events of [SMALL, size]) {
    const filled = await startFilled(workbench, events, moreEnvironment);
    for (const [title, call] of await callsOf(workbench, filled)) {
      const [firstMs, ...others] = await millisecondsOf(call);
      times.push({
        title: `${title}, ${events}`,
        firstMs,
        p50Ms: median(others),
        maxMs: Math.max(firstMs, ...others),
      });
    }
  }
  return times;
}

/** The first time includes planning the statement and reading from the disk. */
async function millisecondsOf(call) {
  const milliseconds = [];
  for (let number = 0; number <= CALLS_A_KIND; number += 1) {
    const begun = performance.now();
    await call();
    milliseconds.push(performance.now() - begun);
  }
  return milliseconds;
}

function reported(times) {
  const values = times.map(({ maxMs }) => maxMs);
  const slowest = {
    title: 'slowest answer, ms',
    values,
    ...spread(values),
    median: Math.max(...values),
    atMost: MAX_MS,
  };
  const rows = times.map(({ title, ...ms }) => [
    title,
    ...Object.values(ms).map((value) => value.toFixed(1)),
  ]);
  return {
    times,
    ratios: [slowest],
    remarks: [table([['ms', 'first', 'then p50', 'most'], ...rows])],
  };
}

async function startFilled(workbench, size, moreEnvironment) {
  const database = await workbench.newDatabase();
  workbench.tell(`filling ${size} events`);
  await workbench.postgres.inSession(
    database,
    async (client) => {
      await withoutIndexes(client, 'audit_event', () => client.query(FILLING, [size, ISSUER]));
      await client.query('VACUUM ANALYZE audit_event');
      await client.query('CHECKPOINT');
    },
    { maintenance_work_mem: '512MB', synchronous_commit: 'off' },
  );
  return workbench.startService({ name: `${size} events`, database, moreEnvironment });
}

/** The events of a busy day, at even intervals. One in 20 is a refusal, and one in 100 ends a session. */
const FILLING = `INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, payload)
  SELECT CASE WHEN n % 20 = 0 THEN 'svc.audit.token-exchange.failed' WHEN n % 100 = 1 THEN 'svc.audit.session.ended'
      ELSE 'svc.audit.token-exchange.succeeded' END,
    now() - interval '23 hours' * (1 - n::float8 / $1),
    CASE WHEN n = $1 / 2 THEN 'request-500' ELSE lpad(n::text, 20, '0') END,
    CASE WHEN n = $1 / 2 THEN ${RARE_USER} WHEN n % 20 <> 0 THEN md5('user ' || n % 1000)::uuid END,
    jsonb_build_object('issuer', $2::text, 'kid', 'partner-ES256', 'clientAddress', '192.0.2.7')
      || CASE WHEN n % 20 = 0 THEN jsonb_build_object('reason', 'token_expired', 'party', 'subject')
        ELSE jsonb_build_object('accessTokenId', gen_random_uuid(), 'lifetimeSeconds', 60) END
  FROM generate_series(1, $1::int) n`;

/** The values of the capitalised placeholders in the queries. */
async function valuesOf({ postgres }, { database }) {
  const ago = (hours) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const [users] = await postgres.query(database, `SELECT ${USER} AS "USER", ${RARE_USER} AS "RARE"`);
  return { ...users, HOUR: ago(12), END: ago(11) };
}

async function pageCalls(workbench, contestant) {
  const values = await valuesOf(workbench, contestant);
  const { call } = await loginAdministrator(contestant, workbench.partner);
  return PAGES.map(([title, question]) => {
    const query = question.replace(/\b(USER|RARE|HOUR|END)\b/g, (name) => values[name]);
    return [title, () => call(`/audit-events?limit=50&${query}`)];
  });
}

/** Signs an operator in and makes the operator page's calls. */
async function operatorCalls(workbench, { server, database }) {
  const env = { ...process.env, SVC_DATABASE_URL: workbench.postgres.urlOf(database) };
  const command = (input, ...args) =>
    execFileSync(process.execPath, [COMMAND, 'users', ...args], { env, input, stdio: 'pipe' });
  command('', 'create', '--email', EMAIL, '--role', 'global:owner');
  command(`${PASSWORD}\n`, 'set-password', EMAIL, '--password-stdin');
  const at = (path) => new URL(`/rest/admin/${path}`, server.origin);
  const headers = {
    origin: server.origin.replace('127.0.0.1', 'localhost'),
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ email: EMAIL, password: PASSWORD });
  const answer = await fetch(at('session'), { method: 'POST', headers, body });
  assert.equal(answer.status, 201, await answer.text());
  const cookie = answer.headers.getSetCookie()[0].split(';')[0];
  const values = await valuesOf(workbench, { database });
  const call = (path, input) => callJson(at(path), input, { ...headers, cookie });
  return [
    ...COUNTS.map(([title, query]) => [title, () => call(`activity?${query}`)]),
    ...REFUSALS.map(([title, { user, ...asked }]) => {
      const input = user === undefined ? asked : { ...asked, user: values[user] };
      return [title, () => call('refusals/search', input)];
    }),
  ];
}
