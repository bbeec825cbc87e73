// Breaks what decides about tokens by small changes, one at a time, and counts how many of them the unit and database tests find.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { randomFrom } from '../../support/random.js';
import { sizeOf } from '../../support/series.js';
import { REPOSITORY } from '../../support/source-files.js';
import type { Mutant } from './support/mutation.js';
import { mutantsOf } from './support/mutation.js';
import { specsReaching } from './support/specs.js';

/** The files that lie in these folders themselves are changed; MUTANT_FOLDERS (with commas) names others. */
const FOLDERS = [
  ...['verify', 'identity', 'trust', 'replay', 'exchange', 'login', 'assertions', 'dpop', 'revocation'].map(
    (name) => `token-exchange/${name}`,
  ),
  'platform/http/throttle',
];
/** Tests on databases that belong to them. */
const DATABASE_SPECS =
  /\/(clock-steps|identity-link|jti|jti-batch|request-order|revocation-readings|session-family|stored-entries|throttle-store|user-batch)\.spec\.ts$/;

const { MUTANT_FOLDERS = FOLDERS.join(','), MUTANT_COUNT, MUTANT_SEED = '1' } = process.env;
const COUNT = Number(MUTANT_COUNT ?? sizeOf({ small: 3, whole: 500 }));
const WANTED_SHARE = 0.9;
const DAY_MS = 24 * 3_600_000;

jest.setTimeout(DAY_MS);

const sources = MUTANT_FOLDERS.split(',')
  .map((folder) => join(REPOSITORY, 'src', folder))
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  .filter((path) => path.endsWith('.ts'));

/** The tests of its own folder; those others that reach it, within `npm run test:long` alone. */
function stagesOf({ file }: Mutant): string[][] {
  const reaching = [...specsReaching(file, 'test/unit'), ...specsReaching(file, 'test/database')];
  const specs = reaching.filter((spec) => !spec.includes('/database/') || DATABASE_SPECS.test(spec));
  const isNear = (spec: string) => basename(dirname(spec)) === basename(dirname(file));
  const stages = [specs.filter(isNear), specs.filter((spec) => !isNear(spec))];
  return stages.slice(0, sizeOf({ small: 1, whole: 2 })).filter((stage) => stage.length > 0);
}

type Outcome = 'survived' | 'found' | 'timed out';

/** Runs test files up to the first that fails, in a process group of its own. */
function run(mutant: Mutant, specs: readonly string[], limitMs: number): Promise<Outcome> {
  // Other series have their small size.
  const { JEST_WORKER_ID, TEST_POSTGRES_URL, TEST_SCOPE, TEST_SERIES, ...environment } = process.env;
  const config = jest.requireActual<{ transform: Record<string, [string, object]> }>(
    '../../../jest.config.cjs',
  );
  const [pattern, [, options]] = Object.entries(config.transform)[0]!;
  const transform = { [pattern]: [join(__dirname, 'support/mutant-transform.cjs'), options] };
  const child = spawn(
    process.execPath,
    [
      join(REPOSITORY, 'node_modules/jest/bin/jest.js'),
      ...['--runInBand', '--bail', '--silent', `--transform=${JSON.stringify(transform)}`],
      ...['--runTestsByPath', ...specs],
    ],
    {
      cwd: REPOSITORY,
      detached: true,
      stdio: 'ignore',
      env: { ...environment, MUTANT: JSON.stringify(mutant) },
    },
  );
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), limitMs);
    child.once('error', reject);
    child.once('exit', (exitCode) => {
      clearTimeout(limit);
      resolve(exitCode === null ? 'timed out' : exitCode === 0 ? 'survived' : 'found');
    });
  });
}

async function outcomeOf(mutant: Mutant, limitMs: number): Promise<Outcome> {
  for (const specs of stagesOf(mutant)) {
    const outcome = await run(mutant, specs, limitMs);
    if (outcome !== 'survived') return outcome;
  }
  return 'survived';
}

/** A seed picks the same ones of the same code. */
function picked(): Mutant[] {
  const random = randomFrom(Number(MUTANT_SEED));
  const left = sources.flatMap(mutantsOf);
  const count = Math.min(COUNT, left.length);
  return Array.from({ length: count }, () => left.splice(random.below(left.length), 1)).flat();
}

let unchangedOutcome: Outcome;
/** What a change has made endless is stopped; a slow or busy machine takes longer for everything. */
let limitMs: number;

beforeAll(async () => {
  const unchanged = { file: '', start: 0, end: 0, text: '', change: 'nothing' };
  const specs = new Set(picked().flatMap((mutant) => stagesOf(mutant).flat()));
  const startedAt = Date.now();
  unchangedOutcome = await run(unchanged, [...specs], DAY_MS);
  limitMs = 60_000 + 2 * (Date.now() - startedAt);
});

it('where nothing is changed no test fails', () => {
  expect(unchangedOutcome).toBe('survived');
});

it(`of ${COUNT} small changes nine in ten are found`, async () => {
  const todo = picked();
  const counts = { found: 0, survived: 0, 'timed out': 0 };
  const work = async () => {
    for (let mutant = todo.pop(); mutant !== undefined; mutant = todo.pop()) {
      const outcome = await outcomeOf(mutant, limitMs);
      counts[outcome] += 1;
      if (outcome === 'found') continue;
      process.stderr.write(`${outcome}: ${relative(REPOSITORY, mutant.file)}:${mutant.change}\n`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const { found, survived } = counts;
  process.stderr.write(
    `${found} of ${found + survived} found, ${counts['timed out']} timed out, seed ${MUTANT_SEED}\n`,
  );
  // A handful shows only that there are such tests.
  expect(found / (found + survived)).toBeGreaterThanOrEqual(COUNT < 50 ? 0.2 : WANTED_SHARE);
});
