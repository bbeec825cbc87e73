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
/** Before this number, Node.js still compiles hot code, and the service took 1.4 times its later CPU time. */
const WARM_AFTER_REQUESTS = 20_000;
const MEBIBYTE = 2 ** 20;

/**
 * Warms each contender up, then measures them in turn in each round, so that a disturbance affects all of them.
 * Every second round has the reverse order (ABBA), so that a drift of the machine favours no contender.
 * @param contenders each has a `name`, its `servers` and its `load`. A contender without requests has its own `measure`
 * @returns the rounds in their order, and the number of requests that were sent to each contender
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

/** Returns the contender's throughput in requests per second. */
export async function warmUp(workbench, contender) {
  const run = (count) => measure(workbench, contender, count);
  const { perSecond } = await run(await warmUpBy(workbench, run));
  return perSecond;
}

/** Returns the number of requests in a round: the option `requests`, or enough to fill the option `seconds`. */
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

/** Measures one round. Its requests are prepared beforehand, so that their signing does not compete with the servers. */
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

/** Only one contender works at a time, so PostgreSQL's whole CPU time belongs to it. */
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
