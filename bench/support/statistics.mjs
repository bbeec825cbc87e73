// The few statistics that the tables show.

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
