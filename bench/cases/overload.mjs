// Sends three times the service's capacity. Measures its throughput and latency, the share and cost of refusals, and the time until it
// has recovered.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from 'pg';
import { Connection, requestBytes } from '../support/connection.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import { table } from '../support/report.mjs';
import { measure, warmUp } from '../support/rounds.mjs';
import { cpuMicros, median, quantile, spread } from '../support/statistics.mjs';

const RUSH_PROGRAM = join(import.meta.dirname, '..', 'support', 'rush-client.mjs');
const TIMES = 3;
const RUSH_SECONDS = 30;
/** The length of the phases before and after the rush, at half of the capacity. */
const HALF_SECONDS = 5;
/** Tokens are signed before the first is sent, so they need a long lifetime. */
const LIFETIME_SECONDS = 600;
/** Connections that are open before the rush, such as those of a reverse proxy. */
const OPENED = 3_500;
const WINDOW_MS = 500;
/** How long requests wait for the database, longer than the measurement of refusals. */
const OCCUPIED_MS = '30000';
/** The service's limit of requests in progress in one process. */
const MAX_IN_PROGRESS = 4_000;
const REFUSALS = 20_000;
/** The most requests in one message to the program. */
const TOLD_AT_ONCE = 10_000;

export const overload = {
  name: 'overload',
  title: `Token exchanges at ${TIMES} times the capacity for ${RUSH_SECONDS} s, ES256, known users, on PostgreSQL`,

  async run(workbench) {
    const { rounds, seconds } = workbench.options;
    const service = await workbench.startService();
    const load = exchangeRequests(service, workbench.partner, { lifetimeSeconds: LIFETIME_SECONDS });
    workbench.tell('warming the service up');
    let peak = await warmUp(workbench, { servers: [service], load });
    const occupied = await workbench.startService({
      name: 'occupied',
      moreEnvironment: { SVC_DATABASE_WAIT_MS: OCCUPIED_MS },
    });
    await refusals(workbench, occupied);
    const found = [];
    for (let round = 1; round <= rounds; round += 1) {
      const atPeak = await measure(workbench, { servers: [service], load }, Math.round(peak * seconds));
      peak = atPeak.perSecond;
      const phases = [peak / 2, TIMES * peak, peak / 2];
      const results = await rush(workbench, { service, load }, phases);
      const refusalCost = cpuMicros(await refusals(workbench, occupied)) / cpuMicros(atPeak);
      const result = { ...judged(results, peak), refusalCost };
      found.push(result);
      const shown = Object.entries(result).map(([name, value]) => `${name} ${value.toFixed(2)}`);
      workbench.tell(`round ${round}: ${shown.join(', ')}`);
    }
    return {
      ratios: TARGETS.map(({ name, ...target }) => {
        const values = found.map((result) => result[name]);
        return { ...target, values, ...spread(values) };
      }),
      remarks: [
        table([['median', 'of the rounds'], ...Object.keys(found[0]).map((name) => rowOf(found, name))]),
      ],
    };
  },
};

const TARGETS = [
  { name: 'goodput', title: 'answered 200 / capacity', atLeast: 0.7 },
  { name: 'acceptedP95Seconds', title: 'seconds, p95 of what is accepted', atMost: 2 },
  { name: 'otherShare', title: 'neither 200 nor 503 / all', atMost: 0 },
  { name: 'recoveredAfterSeconds', title: 'seconds until all is as before', atMost: 2 },
  { name: 'refusalCost', title: 'CPU with database, refusal / exchange', atMost: 0.1 },
];

/**
 * Runs three phases without a pause: half load, rush, half load. All tokens are signed beforehand, so that only the
 * service is measured.
 */
async function rush({ tell }, { service: { server }, load }, phases) {
  const counts = phases.map((perSecond, index) =>
    Math.round(perSecond * (index === 1 ? RUSH_SECONDS : HALF_SECONDS)),
  );
  tell(`signing ${counts[0] + counts[1] + counts[2]} tokens`);
  const child = fork(RUSH_PROGRAM);
  const told = once(child, 'message');
  const { origin } = server;
  const { method, path, headers } = load;
  for (const [index, count] of counts.entries()) {
    for (let left = count; left > 0; left -= TOLD_AT_ONCE) {
      const made = await load.requests(Math.min(left, TOLD_AT_ONCE));
      const requests = made.map(({ body }) => ({ method, path, headers, body }));
      child.send({ origin, requests, perSecond: phases[index] });
    }
  }
  child.send({ origin, opened: OPENED });
  const [{ results }] = await told;
  const [before, rushed, after] = counts.map((count) => results.splice(0, count));
  return { before, rushed, after };
}

/** Measures the cost of refusals while requests that wait for a lock fill the service up to its limit. */
async function refusals(workbench, contestant) {
  const { partner, postgres, options } = workbench;
  const { origin } = contestant.server;
  const exchanges = exchangeRequests(contestant, partner);
  const [one] = await exchanges.requests(1);
  const requests = (count) => Promise.resolve(Array.from({ length: count }, () => one));
  const load = { ...exchanges, requests, expectedStatus: 503 };
  const holder = new Client(postgres.urlOf(contestant.database));
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE token_exchange_used_jti IN ACCESS EXCLUSIVE MODE');
  const occupying = Array.from({ length: MAX_IN_PROGRESS + 1 }, () => new Connection(origin));
  const answers = occupying.map((connection) =>
    connection.send(requestBytes(origin, { ...exchanges, ...one })),
  );
  try {
    // The first response is the refusal of the one request above the limit.
    await Promise.race(answers);
    return await measure(workbench, { servers: [contestant], load }, options.requests ?? REFUSALS);
  } finally {
    await holder.end();
    await Promise.all(answers);
    for (const connection of occupying) connection.close();
  }
}

const quantileOf = (results, fraction) =>
  quantile(
    results.map(({ ms }) => ms),
    fraction,
  );
const answeredBy = (results, wanted) => results.filter(({ status }) => status === wanted);

function judged({ before, rushed, after }, peak) {
  const accepted = answeredBy(rushed, 200);
  const refused = answeredBy(rushed, 503);
  const usualMs = quantileOf(before, 0.99);
  return {
    capacityPerSecond: peak,
    goodput: accepted.length / RUSH_SECONDS / peak,
    acceptedP50Seconds: quantileOf(accepted, 0.5) / 1000,
    acceptedP95Seconds: quantileOf(accepted, 0.95) / 1000,
    refusedShare: refused.length / rushed.length,
    refusedP95Seconds: quantileOf(refused, 0.95) / 1000,
    otherShare: (rushed.length - accepted.length - refused.length) / rushed.length,
    recoveredAfterSeconds: recoveryOf(after, usualMs),
  };
}

/** The end of the last window with a response other than 200, or with a median above the p99 before the rush. In seconds. */
function recoveryOf(results, usualMs) {
  const beganMs = results[0].dueMs;
  let recoveredMs = 0;
  for (let start = 0; start < HALF_SECONDS * 1000; start += WINDOW_MS) {
    const isIn = ({ dueMs }) => dueMs - beganMs >= start && dueMs - beganMs < start + WINDOW_MS;
    const own = results.filter(isIn);
    const isUsual = own.every(({ status }) => status === 200) && quantileOf(own, 0.5) <= usualMs;
    if (!isUsual) recoveredMs = start + WINDOW_MS;
  }
  return recoveredMs / 1000;
}

function rowOf(found, name) {
  return [name, median(found.map((result) => result[name])).toFixed(2)];
}
