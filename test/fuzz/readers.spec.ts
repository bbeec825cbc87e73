// Random input on every reader of external input: briefly in `npm test`, for any time with `npm run fuzz`.
import fc from 'fast-check';
import { FORM_TARGETS } from './support/form.targets.js';
import { fuzzParameters, isFuzzRun, patienceOf } from './support/fuzz-budget.js';
import type { FuzzTarget, Tally } from './support/fuzz-target.js';
import { inputsOf, tryInput } from './support/fuzz-target.js';
import { JSON_TARGETS } from './support/json.targets.js';
import { TEXT_TARGETS } from './support/text.targets.js';

const TARGETS = [...FORM_TARGETS, ...JSON_TARGETS, ...TEXT_TARGETS] as readonly FuzzTarget[];
const RUNS = 1_500;
const SHARE = 1 / TARGETS.length;

describe('random input', () => {
  const lines: string[] = [];

  afterAll(() => {
    if (isFuzzRun) process.stdout.write(`${lines.join('\n')}\n`);
  });

  it.each(TARGETS.map((target) => [target.name, target] as const))(
    '%s: has only documented results',
    async (name, target) => {
      const tally: Tally = { taken: 0, refused: 0 };
      const property = fc.asyncProperty(inputsOf(target), async (input) => {
        tally[await tryInput(target, input)] += 1;
      });
      await fc.assert(property, fuzzParameters(RUNS, SHARE));
      lines.push(`${name}: ${tally.taken + tally.refused} inputs, ${tally.taken} taken`);
      // If all inputs were refused, or none, the test would cover only half of the reader.
      expect(tally.taken).toBeGreaterThan(0);
      if (target.isRefusal !== undefined) expect(tally.refused).toBeGreaterThan(0);
    },
    patienceOf(SHARE),
  );
});

describe('the seeds', () => {
  it.each(TARGETS.map((target) => [target.name, target] as const))(
    '%s: at least one is accepted unchanged',
    async (_, target) => {
      const verdicts = await Promise.all(target.seeds.map((seed) => tryInput(target, Buffer.from(seed))));
      expect(verdicts).toContain('taken');
    },
  );
});
