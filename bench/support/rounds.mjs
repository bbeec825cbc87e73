// Measures contenders in alternating rounds.
import { setTimeout as delay } from 'node:timers/promises';
import { applyLoad, preparedRequests } from './load.mjs';
import {
  cpuMicroseconds,
  foreignShare,
  machineCpuMicroseconds,
  residentBytes,
  sum,
} from './process-usage.mjs';
import { quantile } from './statistics.mjs';

const SETTLING_MS = 400;
const GAUGE_REQUESTS = 1_000;
/** Until then a program still compiles its own code beside its work: the service took 1.4 times the CPU time of later. */
const WARM_AFTER_REQUESTS = 20_000;
const MEBIBYTE = 2 ** 20;

/**
 * Warms each contender up, then measures them in turn, round by round: what disturbs the machine for a while disturbs
 * all of them. Every second round goes backwards (ABBA), so that a drift of the machine favours nobody.
 * @param contenders each with a `name`, the `servers` that it runs on, and its `load`; one that serves no requests
 *   measures itself, by its `measure`
 * @returns the rounds in the order in which they ran, and how many requests each contender was sent in all
 */
export async function alternate(workbench, contenders) {
  const sent = new Map(contenders.map(({ name }) => [name, 0]));
  const run = async (contender, count) => {
    sent.set(contender.name, sent.get(contender.name) + count);
    return contender.measure === undefined ? measure(workbench, contender, count) : contender.measure(count);
  };
  const counts = new Map();
  for (const contender of contenders) {
    workbench.tell(`warming ${contender.name} up`);
    counts.set(contender, await warmUpBy(workbench, (count) => run(contender, count)));
  }
  const rounds = [];
  for (let round = 1; round <= workbench.options.rounds; round += 1) {
    const turn = round % 2 === 0 ? contenders.toReversed() : contenders;
    for (const contender of turn) {
      const result = { contender: contender.name, round, ...(await run(contender, counts.get(contender))) };
      rounds.push(result);
      workbench.tell(`round ${round}: ${contender.name} ${Math.round(result.perSecond)}/s`);
    }
  }
  return { rounds, sent };
}

/** Answers the contender's throughput. */
export async function warmUp(workbench, contender) {
  const run = (count) => measure(workbench, contender, count);
  const { perSecond } = await run(await warmUpBy(workbench, run));
  return perSecond;
}

/** Answers how many requests a round has: as many as were asked for, or as fill the seconds that were asked for. */
async function warmUpBy({ options: { requests, seconds } }, run) {
  let { perSecond } = await run(requests ?? GAUGE_REQUESTS);
  if (requests !== undefined) return requests;
  for (let sent = GAUGE_REQUESTS; sent < WARM_AFTER_REQUESTS;) {
    const count = Math.round(perSecond * seconds);
    ({ perSecond } = await run(count));
    sent += count;
  }
  return Math.round(perSecond * seconds);
}

/** One round. Tokens are signed and requests made before it, so that this does not compete with the servers. */
export async function measure(workbench, { servers, load }, count) {
  const { connections } = workbench.options;
  const origins = servers.map(({ server }) => server.origin);
  const { bytes } = await preparedRequests(origins[0], load, count);
  await delay(SETTLING_MS);
  const before = usage(workbench, servers);
  let after;
  const { seconds, latenciesMs } = await applyLoad({
    ...load,
    origins,
    requests: bytes,
    connections,
    whenDone: () => (after = usage(workbench, servers)),
  });
  return {
    requests: count,
    seconds,
    perSecond: count / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    slowestMs: Math.max(...latenciesMs),
    ...costs(before, after, count, seconds),
    residentMiB: after.residentBytes / MEBIBYTE,
  };
}

/** Only one contender is at work at a time, so all that PostgreSQL does is done for it. */
function usage({ postgres }, servers) {
  const ids = servers.map(({ server }) => server.processId);
  const usesPostgres = servers.some(({ database }) => database !== undefined);
  const { user, system } = process.cpuUsage();
  return {
    serverMicros: sum(ids.map(cpuMicroseconds)),
    databaseMicros: usesPostgres ? cpuMicroseconds(postgres.processId) : 0,
    generatorMicros: user + system,
    machineMicros: machineCpuMicroseconds(),
    residentBytes: sum(ids.map(residentBytes)),
  };
}

function costs(before, after, count, seconds) {
  const used = (name) => after[name] - before[name];
  const known = used('serverMicros') + used('databaseMicros') + used('generatorMicros');
  return {
    serverCpuMicros: used('serverMicros') / count,
    databaseCpuMicros: used('databaseMicros') / count,
    generatorCpuMicros: used('generatorMicros') / count,
    foreignShare: foreignShare(used('machineMicros'), known, seconds),
  };
}
