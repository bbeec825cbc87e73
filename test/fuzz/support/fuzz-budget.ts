// How long random input goes on: a few hundred inputs within `npm test`, and as many minutes as `npm run fuzz` was told.
import type fc from 'fast-check';

const MS_PER_MINUTE = 60_000;
/** Of both files that read random input, at the same time: see package.json and test/README.md. */
const minutes = Number(process.env['FUZZ_MINUTES'] ?? 0);
const seed = Number(process.env['FUZZ_SEED'] ?? 1);
/** Never reached: the time limit ends the run. */
const ENDLESS = 1_000_000_000;

export const isFuzzRun = minutes > 0;

/** A share of the time that the whole run has, in milliseconds. */
export function shareOfTime(share: number): number {
  return minutes * MS_PER_MINUTE * share;
}

/**
 * What a property is asserted with. A failure prints seed and path, by which fast-check runs the very case again.
 * @param runs how many inputs there are within `npm test`
 * @param share of the time that `npm run fuzz` has
 */
export function fuzzParameters<T>(runs: number, share: number): fc.Parameters<T> {
  if (!isFuzzRun) return { seed, numRuns: runs };
  return { seed, numRuns: ENDLESS, interruptAfterTimeLimit: shareOfTime(share) };
}

/** How long a test with such a share may take. */
export function patienceOf(share: number): number {
  return 60_000 + shareOfTime(share);
}
