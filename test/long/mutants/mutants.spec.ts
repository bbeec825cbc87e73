// Breaks the rules of the contract by small changes, one at a time, and counts how many the tests find that name the rule.
import { spawn } from 'node:child_process';
import { join, relative } from 'node:path';
import { randomFrom } from '../../support/random.js';
import { sizeOf } from '../../support/series.js';
import { REPOSITORY } from '../../support/source-files.js';
import type { Mutant } from './support/mutation.js';
import type { Rule } from './support/rules.js';
import { rulesOfContract, testsNaming, titlePattern } from './support/rules.js';

const { MUTANT_COUNT, MUTANT_SEED = '1' } = process.env;
const COUNT = Number(MUTANT_COUNT ?? sizeOf({ small: 2, whole: 50 }));
const WANTED_SHARE = 48 / 50;
/** A change may make the code endless. */
const LIMIT_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;

jest.setTimeout(DAY_MS);

type Outcome = 'survived' | 'found' | 'timed out';

/** Runs test files up to the first that fails, in a process group of its own. */
function run(mutant: Mutant, specs: readonly string[], titles: string, limitMs = LIMIT_MS): Promise<Outcome> {
  // Other series have their small size.
  const { JEST_WORKER_ID, TEST_POSTGRES_URL, TEST_SCOPE, TEST_SERIES, ...environment } = process.env;
  const config = jest.requireActual<{ transform: Record<string, [string, object]> }>(
    '../../../jest.config.cjs',
  );
  const transform = Object.fromEntries(
    Object.entries(config.transform).map(([pattern, [, options]]) => [
      pattern,
      [join(__dirname, 'support/mutant-transform.cjs'), options],
    ]),
  );
  const child = spawn(
    process.execPath,
    [
      join(REPOSITORY, 'node_modules/jest/bin/jest.js'),
      ...['--runInBand', '--bail', '--silent', `--transform=${JSON.stringify(transform)}`],
      ...[`--testNamePattern=${titles}`, '--runTestsByPath', ...specs],
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

/** A mutant, and the rule in whose code it is. */
interface Broken {
  readonly rule: Rule;
  readonly mutant: Mutant;
}

async function outcomeOf({ rule, mutant }: Broken): Promise<Outcome> {
  for (const specs of testsNaming(rule)) {
    const outcome = await run(mutant, specs, titlePattern(rule));
    if (outcome !== 'survived') return outcome;
  }
  return 'survived';
}

/** One mutant of each rule, then a second one, and so on. A seed picks the same ones of the same code. */
function picked(): Broken[] {
  const random = randomFrom(Number(MUTANT_SEED));
  const takeFrom = <T>(list: T[]) => list.splice(random.below(list.length), 1);
  const mutants = new Map(rulesOfContract().map((rule) => [rule, [...rule.mutants]]));
  const chosen: Broken[] = [];
  while (chosen.length < COUNT && mutants.size > 0) {
    const order = [...mutants.keys()];
    while (chosen.length < COUNT && order.length > 0) {
      const [rule] = takeFrom(order) as [Rule];
      const left = mutants.get(rule)!;
      chosen.push(...takeFrom(left).map((mutant) => ({ rule, mutant })));
      if (left.length === 0) mutants.delete(rule);
    }
  }
  return chosen;
}

it('without a change no test fails', async () => {
  const rules = new Set(picked().map(({ rule }) => rule));
  const specs = new Set([...rules].flatMap((rule) => testsNaming(rule).flat()));
  const titles = [...rules].map(titlePattern).join('|');
  const unchanged = { file: '', start: 0, end: 0, text: '', change: 'nothing' };
  expect(await run(unchanged, [...specs], titles, DAY_MS)).toBe('survived');
});

it(`of ${COUNT} small rule changes all but one in 25 are found`, async () => {
  const counts = { found: 0, survived: 0, 'timed out': 0 };
  for (const broken of picked()) {
    const { rule, mutant } = broken;
    const outcome = await outcomeOf(broken);
    counts[outcome] += 1;
    process.stderr.write(
      `${outcome}: ${rule.ids[0]} ${relative(REPOSITORY, mutant.file)}:${mutant.change}\n`,
    );
  }
  const { found, survived } = counts;
  process.stderr.write(
    `${found} of ${found + survived} found, ${counts['timed out']} timed out, seed ${MUTANT_SEED}\n`,
  );
  // A handful shows only that there are such tests.
  expect(found / (found + survived)).toBeGreaterThanOrEqual(COUNT < 50 ? 0.2 : WANTED_SHARE);
});
