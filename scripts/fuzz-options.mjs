// Reads what `npm run fuzz` is told: for how many minutes, and from which seed.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

/** The files that read random input. */
export const FUZZ_PATTERN = 'test/(fuzz/|long/fuzz\\.spec)';

const MAX_MINUTES = 24 * 60;
const MAX_SEED = 2 ** 31 - 1;

/** The environment of the tests; undefined where the arguments cannot be read. */
export function fuzzEnvironment(args) {
  const values = valuesOf(args);
  if (values === undefined) return undefined;
  const minutes = Number(values.minutes);
  const seed = values.seed === undefined ? randomInt(MAX_SEED) : Number(values.seed);
  const isFine =
    minutes > 0 && minutes <= MAX_MINUTES && Number.isInteger(seed) && Math.abs(seed) <= MAX_SEED;
  return isFine ? { FUZZ_MINUTES: String(minutes), FUZZ_SEED: String(seed) } : undefined;
}

export function explainFuzz() {
  return `Usage: npm run fuzz -- --minutes N [--seed S]
  --minutes N  how long random input goes on, more than 0 and at most ${MAX_MINUTES}
  --seed S     a whole number, as a run before has told it, to have the same inputs again
`;
}

function valuesOf(args) {
  try {
    return parseArgs({ args, options: { minutes: { type: 'string' }, seed: { type: 'string' } } }).values;
  } catch {
    return undefined;
  }
}
