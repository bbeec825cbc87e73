// The few statistics that are taken of rounds.

/** @param fraction 0.5 for the median, 0.99 for the 99th percentile */
export function quantile(values, fraction) {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  // Between two values, in proportion.
  const position = (sorted.length - 1) * fraction;
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}

export function median(values) {
  return quantile(values, 0.5);
}

export function spread(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** All CPU time of a request: the server's and the database's. */
export function cpuMicros({ serverCpuMicros, databaseCpuMicros }) {
  return serverCpuMicros + databaseCpuMicros;
}

/**
 * The ratio of two contenders in each round, its median and its spread.
 * @param comparison `of` names the measured quantity or computes it; `target` is `atLeast` or `atMost`, if any
 */
export function ratio(rounds, { title, of, over, under, ...target }) {
  const quantity = typeof of === 'function' ? of : (round) => round[of];
  const valuesOf = (name) => rounds.filter(({ contender }) => contender === name).map(quantity);
  const divisors = valuesOf(under);
  const values = valuesOf(over).map((value, index) => value / divisors[index]);
  return { title, values, ...spread(values), ...target };
}
