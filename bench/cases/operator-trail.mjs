// What the operator's page asks of the audit trail, with ten million events in it against a thousand.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ISSUER } from '../support/partner.mjs';
import { median } from '../support/statistics.mjs';
import { RARE_USER, USER, startFilled } from './audit-trail.mjs';

const SMALL = 1_000;
const LARGE = 10_000_000;
const CALLS_A_KIND = 15;
const MOST_MS = 1_000;
const EMAIL = 'operator@bench.example';
const PASSWORD = randomBytes(24).toString('hex');
const COMMAND = join(import.meta.dirname, '..', '..', 'dist', 'src', 'cli', 'main.js');

const ANSWERS = {
  'GET activity': (answer) => answer.buckets.length > 0,
  'POST refusals/search': (answer) => Array.isArray(answer.data),
};
const KINDS = [
  ['counts of the last hour', 'GET activity', 'lastHours=1&buckets=30'],
  ['counts of the last day', 'GET activity', 'lastHours=24&buckets=48'],
  ['counts of the last 31 days', 'GET activity', 'lastHours=744&buckets=62'],
  ['the newest refusals', 'POST refusals/search', {}],
  [
    'refusals of the last 31 days, of an issuer of all',
    'POST refusals/search',
    { issuer: ISSUER, lastHours: 744 },
  ],
  ['refusals for a reason that none has', 'POST refusals/search', { reason: 'none' }],
  ['refusals of a user of one in 1,000', 'POST refusals/search', { user: USER }],
  ['refusals of a user with one event', 'POST refusals/search', { user: RARE_USER }],
  ['refusals of a request', 'POST refusals/search', { requestId: 'request-500' }],
];

export const operatorTrail = {
  name: 'operator-trail',
  title: `What the operator's page asks of a trail with ${LARGE} events of a day against ${SMALL}, one call after another, on PostgreSQL`,

  async run(workbench) {
    const size = Math.max(SMALL, Math.round(LARGE / workbench.options.growthScale));
    const times = [];
    for (const number of [SMALL, size]) {
      const contestant = await startFilled(workbench, number, { SVC_ADMIN_ENABLED: 'true' });
      times.push(...(await timesOf(workbench, contestant)));
      await workbench.stop(contestant.server);
    }
    const lines = times.map(
      ({ title, firstMs, p50Ms, maxMs }) =>
        `${title}: first ${firstMs.toFixed(1)} ms, then p50 ${p50Ms.toFixed(1)} ms; most ${maxMs.toFixed(1)} ms`,
    );
    for (const line of lines) workbench.tell(line);
    const isHeld = times.every(({ maxMs }) => maxMs <= MOST_MS);
    return {
      times,
      ratios: [],
      remarks: [lines.join('\n'), `Bar: no answer takes more than ${MOST_MS} ms: ${isHeld}.`],
    };
  },
};

async function timesOf(workbench, contestant) {
  const call = await signedIn(workbench, contestant);
  const [ids] = await workbench.postgres.query(
    contestant.database,
    `SELECT ${USER} AS "${USER}", ${RARE_USER} AS "${RARE_USER}"`,
  );
  const times = [];
  for (const [title, endpoint, asked] of KINDS) {
    const input = asked.user === undefined ? asked : { ...asked, user: ids[asked.user] };
    const milliseconds = [];
    for (let number = 0; number <= CALLS_A_KIND; number += 1) {
      const begun = performance.now();
      const answer = await call(endpoint, input);
      milliseconds.push(performance.now() - begun);
      assert.ok(ANSWERS[endpoint](answer), `${title}: ${JSON.stringify(answer)}`);
    }
    // The first one reads what lies on the disk.
    const [firstMs, ...others] = milliseconds;
    const most = Math.max(...milliseconds);
    times.push({ title: `${title}, ${contestant.size}`, firstMs, p50Ms: median(others), maxMs: most });
  }
  return times;
}

/** A sign-in as the page does it. @returns what calls the operator's API */
async function signedIn({ postgres }, { server, database }) {
  const environment = { ...process.env, SVC_DATABASE_URL: postgres.urlOf(database) };
  const command = (args, input) =>
    execFileSync(process.execPath, [COMMAND, ...args], { env: environment, input, stdio: 'pipe' });
  command(['users', 'create', '--email', EMAIL, '--role', 'global:owner']);
  command(['users', 'set-password', EMAIL, '--password-stdin'], `${PASSWORD}\n`);
  const headers = {
    origin: server.origin.replace('127.0.0.1', 'localhost'),
    'content-type': 'application/json',
  };
  const answer = await fetch(new URL('/rest/admin/session', server.origin), {
    method: 'POST',
    headers,
    body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
  });
  assert.equal(answer.status, 201, await answer.text());
  const [cookie] = answer.headers.getSetCookie().map((text) => text.split(';')[0]);
  return async (endpoint, input) => {
    const [method, path] = endpoint.split(' ');
    const query = method === 'GET' ? `?${input}` : '';
    const called = await fetch(new URL(`/rest/admin/${path}${query}`, server.origin), {
      method,
      headers: { ...headers, cookie },
      ...(method === 'POST' && { body: JSON.stringify(input) }),
    });
    const text = await called.text();
    assert.equal(called.status, 200, `${endpoint}: ${text}`);
    return JSON.parse(text);
  };
}
