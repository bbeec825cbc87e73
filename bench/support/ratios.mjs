// Compares contenders round by round.
import { spread } from './statistics.mjs';

/** All CPU time of a request: the server's and the database's. */
export function cpuMicros({ serverCpuMicros, databaseCpuMicros }) {
  return serverCpuMicros + databaseCpuMicros;
}

/**
 * The ratio of two contenders in each round, its median and its spread.
 * @param comparison `of` names the measured quantity or computes it; `atLeast` or `atMost` is the target, if any
 */
export function ratio(rounds, { title, of, over, under, atLeast, atMost }) {
  const quantity = typeof of === 'function' ? of : (round) => round[of];
  const valuesOf = (name) => rounds.filter(({ contender }) => contender === name).map(quantity);
  const divisors = valuesOf(under);
  const values = valuesOf(over).map((value, index) => value / divisors[index]);
  return { title, values, ...spread(values), ...(atLeast && { atLeast }), ...(atMost && { atMost }) };
}

/** Undefined where there is no target. */
export function isReached({ median, atLeast, atMost }) {
  if (atLeast !== undefined) return median >= atLeast;
  return atMost === undefined ? undefined : median <= atMost;
}
