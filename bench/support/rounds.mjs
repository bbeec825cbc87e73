// Measures contenders in alternating rounds.
import { setTimeout as delay } from 'node:timers/promises';
import { applyLoad } from './load.mjs';
import { cpuMicroseconds, residentBytes } from './process-usage.mjs';
import { quantile } from './statistics.mjs';

const SETTLING_MS = 400;
const GAUGE_REQUESTS = 1_000;
const MEBIBYTE = 2 ** 20;

/**
 * Warms each contender up, then measures them in turn, round by round: what disturbs the machine for a while disturbs
 * all of them.
 * @param contenders each with a `name`, the `servers` that it runs on, and its `load`
 * @returns the rounds in the order in which they ran
 */
export async function alternate(workbench, contenders) {
  const requestsOf = new Map();
  for (const contender of contenders) requestsOf.set(contender, await warmUp(workbench, contender));
  const results = [];
  for (let round = 1; round <= workbench.options.rounds; round += 1) {
    for (const contender of contenders) {
      const result = await measure(workbench, contender, requestsOf.get(contender));
      results.push({ contender: contender.name, round, ...result });
      workbench.tell(`round ${round}: ${contender.name} ${Math.round(result.perSecond)}/s`);
    }
  }
  return results;
}

/** Answers how many requests a round has: as many as were asked for, or as fill the seconds that were asked for. */
async function warmUp(workbench, contender) {
  workbench.tell(`warming ${contender.name} up`);
  await measure(workbench, contender, GAUGE_REQUESTS);
  const { perSecond } = await measure(workbench, contender, GAUGE_REQUESTS);
  const { requests, seconds } = workbench.options;
  const count = requests ?? Math.round(perSecond * seconds);
  await measure(workbench, contender, count);
  return count;
}

/** One round. Tokens are signed before it, so that signing does not compete with the servers. */
export async function measure(workbench, { servers, load: { requests, ...kind } }, count) {
  const { connections } = workbench.options;
  const prepared = await requests(count);
  await delay(SETTLING_MS);
  const before = usage(workbench, servers);
  let after;
  const { seconds, latenciesMs } = await applyLoad({
    ...kind,
    origins: servers.map(({ server }) => server.origin),
    requests: prepared,
    connections,
    whenDone: () => (after = usage(workbench, servers)),
  });
  return {
    requests: count,
    seconds,
    perSecond: count / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    serverCpuMicros: (after.serverMicros - before.serverMicros) / count,
    databaseCpuMicros: (after.databaseMicros - before.databaseMicros) / count,
    residentMiB: after.residentBytes / MEBIBYTE,
  };
}

/** Only one contender is at work at a time, so all that PostgreSQL does is done for it. */
function usage({ postgres }, servers) {
  const ids = servers.map(({ server }) => server.processId);
  return {
    serverMicros: sum(ids.map(cpuMicroseconds)),
    databaseMicros: postgres === undefined ? 0 : cpuMicroseconds(postgres.processId),
    residentBytes: sum(ids.map(residentBytes)),
  };
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
