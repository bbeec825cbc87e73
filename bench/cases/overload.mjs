// Three times what the service can do: how late its answers are, whom it sends away, and how soon it is as before.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { exchangeRequests } from '../support/exchanges.mjs';
import { median, quantile, spread } from '../support/statistics.mjs';
import { warmUp } from '../support/rounds.mjs';

const RUSH_PROGRAM = join(import.meta.dirname, '..', 'support', 'rush-client.mjs');
const TIMES = 3;
/** As a reverse proxy holds them open, or clients that were there before the rush. */
const OPENED = 1_000;
/** After the rush, in seconds; half of what the service can do is sent meanwhile. */
const RECOVERY_SECONDS = 5;
const WINDOW_MS = 500;

export const overload = {
  name: 'overload',
  title: `Token exchanges at ${TIMES} times the capacity, ES256, known users, on PostgreSQL`,

  async run(workbench) {
    const { rounds, seconds } = workbench.options;
    const limit = process.env.BENCH_REQUESTS_IN_PROGRESS;
    const moreEnvironment = limit === undefined ? {} : { SVC_MAX_REQUESTS_IN_PROGRESS: limit };
    const service = await workbench.startService({ moreEnvironment });
    const load = exchangeRequests(service, workbench.partner, 'ES256');
    workbench.tell('warming the service up');
    const peak = await warmUp(workbench, { servers: [service], load });
    const found = [];
    for (let round = 1; round <= rounds; round += 1) {
      const send = (times, opened, span = seconds) =>
        rush(service, load, { perSecond: times * peak, seconds: span, opened });
      const half = await send(1 / 2, OPENED);
      const rushed = await send(TIMES, OPENED);
      const after = await send(1 / 2, OPENED, RECOVERY_SECONDS);
      const newcomers = await send(TIMES, 0);
      const result = { ...judged({ half, rushed, after }), ...ofNewcomers(newcomers) };
      found.push(result);
      workbench.tell(`round ${round}: ${shown(result)}`);
    }
    const of = (name) => found.map((result) => result[name]);
    const values = of('p99Ratio');
    return {
      ratios: [
        {
          title: 'p99 of what is accepted, overload / half load',
          values,
          ...spread(values),
          atMost: 5,
        },
      ],
      remarks: [
        `Capacity ${Math.round(peak)} a second. Medians of ${rounds} rounds:`,
        ...Object.keys(found[0]).map((name) => `${name}: ${median(of(name)).toFixed(1)}`),
      ],
    };
  },
};

/** Tokens are signed before, so that it is the service alone that is measured. */
async function rush({ server }, { path, requests }, { perSecond, seconds, opened }) {
  const bodies = (await requests(Math.round(perSecond * seconds))).map(({ body }) => body);
  const child = fork(RUSH_PROGRAM);
  const told = once(child, 'message');
  child.send({ port: Number(new URL(server.origin).port), path, bodies, perSecond, opened });
  const [{ results, sentMs }] = await told;
  return { results, perSecond: (results.length * 1000) / sentMs };
}

const p99 = (results) =>
  quantile(
    results.map(({ ms }) => ms),
    0.99,
  );
const answeredBy = (results, wanted) => results.filter(({ status }) => status === wanted);

function judged({ half, rushed, after }) {
  const accepted = answeredBy(rushed.results, 200);
  const away = answeredBy(rushed.results, 503);
  const halfMs = p99(answeredBy(half.results, 200));
  const spanSeconds = rushed.results.at(-1).dueMs / 1000;
  return {
    p99Ratio: p99(accepted) / halfMs,
    halfP99Ms: halfMs,
    offeredPerSecond: rushed.perSecond,
    acceptedPerSecond: accepted.length / spanSeconds,
    acceptedP50Ms: median(accepted.map(({ ms }) => ms)),
    acceptedP99Ms: p99(accepted),
    sentAwayPercent: (100 * away.length) / rushed.results.length,
    sentAwayP99Ms: p99(away),
    unansweredPercent:
      (100 * (rushed.results.length - accepted.length - away.length)) / rushed.results.length,
    recoveredAfterSeconds: recoveryOf(after.results, halfMs),
  };
}

/** Of a rush of clients that all connect first: Node.js takes one connection each time it has served all that are ready. */
function ofNewcomers({ results }) {
  const accepted = answeredBy(results, 200);
  return {
    newcomersAcceptedP50Ms: median(accepted.map(({ ms }) => ms)),
    newcomersAcceptedP99Ms: p99(accepted),
    newcomersUnansweredPercent: (100 * answeredBy(results, 0).length) / results.length,
  };
}

/** The end of the last stretch in which somebody was sent away, or the median was beyond the p99 at half load. */
function recoveryOf(results, usualMs) {
  let recoveredMs = 0;
  for (let start = 0; start < RECOVERY_SECONDS * 1000; start += WINDOW_MS) {
    const own = results.filter(({ dueMs }) => dueMs >= start && dueMs < start + WINDOW_MS);
    const isUsual = own.every(({ status }) => status === 200) && median(own.map(({ ms }) => ms)) <= usualMs;
    if (!isUsual) recoveredMs = start + WINDOW_MS;
  }
  return recoveredMs / 1000;
}

function shown({ p99Ratio, acceptedPerSecond, offeredPerSecond, acceptedP99Ms, recoveredAfterSeconds }) {
  const rates = `${Math.round(acceptedPerSecond)} of ${Math.round(offeredPerSecond)} a second`;
  return `${rates}, p99 ${acceptedP99Ms.toFixed(0)} ms (${p99Ratio.toFixed(1)} times), recovered after ${recoveredAfterSeconds} s`;
}
