// The statistics of rounds.

const LEFT_OUT_AT_EACH_END = 0.025;

/** @param fraction 0.5 for the median, 0.99 for the 99th percentile */
export function quantile(values, fraction) {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  // Interpolates between two values.
  const position = (sorted.length - 1) * fraction;
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}

export function median(values) {
  return quantile(values, 0.5);
}

export function spread(values) {
  const ends = { min: Math.min(...values), max: Math.max(...values) };
  return { median: median(values), interval: medianInterval(values), ...ends };
}

/**
 * An interval that contains the true median with a confidence of at least 95 %, for any distribution. A value is above or
 * below the median with equal probability, so the binomial distribution gives the ranks of both ends.
 * @returns undefined for fewer than six values, which are too few
 */
export function medianInterval(values) {
  const sorted = Float64Array.from(values).sort();
  let rank = 0;
  let tail = 0;
  for (let probability = 2 ** -sorted.length; tail + probability <= LEFT_OUT_AT_EACH_END;) {
    tail += probability;
    rank += 1;
    probability *= (sorted.length - rank + 1) / rank;
  }
  return rank === 0 ? undefined : [sorted[rank - 1], sorted[sorted.length - rank]];
}

/** The CPU time of a request on the server and the database. */
export function cpuMicros({ serverCpuMicros, databaseCpuMicros }) {
  return serverCpuMicros + databaseCpuMicros;
}

/**
 * The ratio of two contenders in each round, with its median, the median's interval, and its spread.
 * @param comparison `of` names the measured quantity or computes it; `target` is `atLeast` or `atMost`, if any
 */
export function ratio(rounds, { title, of, over, under, ...target }) {
  const quantity = typeof of === 'function' ? of : (round) => round[of];
  const valuesOf = (name) => rounds.filter(({ contender }) => contender === name).map(quantity);
  const divisors = valuesOf(under);
  const values = valuesOf(over).map((value, index) => value / divisors[index]);
  return { title, values, ...spread(values), ...target };
}
