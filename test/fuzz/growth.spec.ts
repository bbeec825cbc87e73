// How the time that a reader takes grows with its input: in proportion at most. Measured by `npm run fuzz` alone.
import { FORM_TARGETS } from './support/form.targets.js';
import { isFuzzRun, patienceOf } from './support/fuzz-budget.js';
import type { FuzzTarget } from './support/fuzz-target.js';
import { JSON_TARGETS } from './support/json.targets.js';
import { TEXT_TARGETS } from './support/text.targets.js';

const TARGETS = [...FORM_TARGETS, ...JSON_TARGETS, ...TEXT_TARGETS] as readonly FuzzTarget[];
/** The largest is a quarter of what a body may have, and as long as a token may be. */
const SIZES = [16 * 1024, 32 * 1024, 64 * 1024] as const;
const TRIES = 3;
const MORE_TRIES = 15;
/** Below it other work in the process weighs more than the input. */
const WORTH_COMPARING_MS = 1;
/** A quarter of the size takes a quarter of the time; in the square it would take a sixteenth. */
const MOST_GROWTH = 8;
const MOST_NS_PER_BYTE = 1_000;

/** Makes an input of about so many bytes. */
type OfSize = (bytes: number) => Buffer;

/** Each piece and each two pieces, again and again: alone, in the middle of a seed, and behind one. */
function growing({ seeds, pieces }: FuzzTarget): [string, OfSize][] {
  const repeated = pieces
    .filter((piece) => piece !== '')
    .flatMap((one) => [one, ...pieces.map((other) => one + other)]);
  const surroundings = [
    ['', ''],
    ...seeds.slice(0, 2).flatMap((seed) => [
      [seed.slice(0, seed.length / 2), seed.slice(seed.length / 2)],
      [seed, ''],
    ]),
  ];
  return repeated.flatMap((text) =>
    surroundings.map(([before = '', behind = '']): [string, OfSize] => [
      JSON.stringify([before.slice(0, 40), text.slice(0, 40), behind.slice(0, 40)]),
      (bytes) => Buffer.from(before + text.repeat(Math.ceil(bytes / Buffer.byteLength(text))) + behind),
    ]),
  );
}

/** The least of some tries: other work only ever adds to a try. */
async function msOf(target: FuzzTarget, input: Buffer, tries: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < tries; round += 1) {
    const startedAt = performance.now();
    try {
      await target.read(input);
    } catch {
      // What is refused may take no longer either; whether it may be refused is not asked here.
    }
    least = Math.min(least, performance.now() - startedAt);
  }
  return least;
}

/** What is wrong with the growth, or nothing. */
async function faultOf(target: FuzzTarget, ofSize: OfSize, tries: number): Promise<string | undefined> {
  const inputs = SIZES.map(ofSize);
  const costs: number[] = [];
  for (const input of inputs) costs.push(await msOf(target, input, tries));
  const [small = 0, , large = 0] = costs;
  const perByte = (large * 1_000_000) / (inputs.at(-1)?.length ?? 1);
  const isBounded = large < WORTH_COMPARING_MS || (large < MOST_GROWTH * small && perByte < MOST_NS_PER_BYTE);
  return isBounded ? undefined : `ms at n, 2n, 4n: ${costs.map((cost) => cost.toFixed(2)).join(', ')}`;
}

describe('the time that a reader takes', () => {
  if (!isFuzzRun) {
    it.skip('skipped: measures time, run it by `npm run fuzz -- --minutes N`', () => undefined);
    return;
  }

  it.each(TARGETS.map((target) => [target.name, target] as const))(
    '[B.work] %s: four times the input takes no more than a few times the time',
    async (_, target) => {
      const faults: string[] = [];
      for (const [what, ofSize] of growing(target)) {
        const suspicion = await faultOf(target, ofSize, TRIES);
        const fault = suspicion && (await faultOf(target, ofSize, MORE_TRIES));
        if (fault !== undefined) faults.push(`${what} ${fault}`);
      }
      expect(faults).toEqual([]);
    },
    patienceOf(1),
  );
});
