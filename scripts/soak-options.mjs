// Reads what `npm run soak` is told: for how many minutes, on which database.
import { parseArgs } from 'node:util';

const USUAL_MINUTES = 60;
const MAX_MINUTES = 7 * 24 * 60;
const DATABASES = ['postgresql', 'embedded'];

/** The environment of the test; undefined where the arguments cannot be read. */
export function soakEnvironment(args) {
  const values = valuesOf(args);
  if (values === undefined) return undefined;
  const { minutes = String(USUAL_MINUTES), database = 'postgresql' } = values;
  const isFine = Number(minutes) > 0 && Number(minutes) <= MAX_MINUTES && DATABASES.includes(database);
  return isFine ? { SOAK_MINUTES: minutes, SOAK_DATABASE: database } : undefined;
}

export function explainSoak() {
  return `Usage: npm run soak -- [--minutes N] [--database postgresql|embedded]
  --minutes N   how long mixed traffic goes on, more than 0 and at most ${MAX_MINUTES}; ${USUAL_MINUTES} unless given
  --database D  postgresql unless given
`;
}

function valuesOf(args) {
  try {
    return parseArgs({ args, options: { minutes: { type: 'string' }, database: { type: 'string' } } }).values;
  } catch {
    return undefined;
  }
}
