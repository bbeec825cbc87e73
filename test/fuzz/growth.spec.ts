// How the time that a reader takes grows with its input: in proportion at most.
import { FORM_TARGETS } from './support/form.targets.js';
import { isFuzzRun, patienceOf } from './support/fuzz-budget.js';
import type { GrowthTarget } from './support/growth.targets.js';
import { GROWTH_TARGETS } from './support/growth.targets.js';
import { JSON_TARGETS } from './support/json.targets.js';
import { TEXT_TARGETS } from './support/text.targets.js';

const TARGETS: readonly GrowthTarget[] = [
  ...FORM_TARGETS,
  ...JSON_TARGETS,
  ...TEXT_TARGETS,
  ...GROWTH_TARGETS,
];
/** The first length, which is then doubled. Polynomial growth shows long before the limit. */
const FIRST_BYTES = 256;
/** The limit of a body, and four times the limit of a token or the headers. */
const LIMIT_BYTES = 256 * 1024;
const TRIES = 5;
/** Below it other work on the machine weighs more than the input. In the square of the limit, any reader takes seconds. */
const WORTH_COMPARING_MS = 15;
/** Sixteen times the length takes 16 times as long, or 32 times with garbage collection. Quadratic growth takes 256 times as long. */
const LENGTHS_APART = 16;
const MAX_GROWTH = 64;

/** Makes an input of about `bytes` bytes. */
type OfSize = (bytes: number) => Buffer;

/** Each piece again and again: alone, behind a seed and in the middle of it. `npm run fuzz` has pairs of pieces too. */
function growing({ seeds, pieces, around = [] }: GrowthTarget): [string, OfSize][] {
  const ones = pieces.filter((piece) => piece !== '');
  const repeated = isFuzzRun ? ones.flatMap((one) => ['', ...pieces].map((other) => one + other)) : ones;
  const [seed = ''] = seeds;
  const middle = seed.length / 2;
  const surroundings = [['', ''], [seed, ''], [seed.slice(0, middle), seed.slice(middle)], ...around];
  return repeated.flatMap((text) =>
    surroundings.map(([before = '', behind = '']): [string, OfSize] => [
      JSON.stringify([before.slice(0, 40), text.slice(0, 40), behind.slice(0, 40)]),
      (bytes) => Buffer.from(before + text.repeat(Math.ceil(bytes / Buffer.byteLength(text))) + behind),
    ]),
  );
}

/** In time of the processor. */
async function msOf({ read }: GrowthTarget, input: Buffer): Promise<number> {
  const before = process.cpuUsage();
  try {
    await read(input);
  } catch {
    // What is refused may take no longer either; whether it may be refused is not asked here.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** What is wrong with the growth, or nothing. */
async function faultOf(target: GrowthTarget, ofSize: OfSize): Promise<string | undefined> {
  for (let bytes = FIRST_BYTES; bytes <= LIMIT_BYTES; bytes *= 2) {
    const [largeInput, smallInput] = [ofSize(bytes), ofSize(bytes / LENGTHS_APART)];
    let [large, small] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const isBounded = () => large < WORTH_COMPARING_MS || large < MAX_GROWTH * small;
    // Other work of this process only ever adds to a try.
    for (let tries = 0; tries < TRIES && (tries === 0 || !isBounded()); tries += 1) {
      large = Math.min(large, await msOf(target, largeInput));
      if (large >= WORTH_COMPARING_MS) small = Math.min(small, await msOf(target, smallInput));
    }
    if (!isBounded()) {
      return `${small.toFixed(1)} ms at ${smallInput.length} bytes, ${large.toFixed(1)} at ${largeInput.length}`;
    }
  }
  return undefined;
}

describe("a reader's time", () => {
  it.each(TARGETS.map((target) => [target.name, target] as const))(
    "[B.work][K33] %s: grows with the input's length, not with its square",
    async (_, target) => {
      const faults: string[] = [];
      for (const [what, ofSize] of growing(target)) {
        const fault = await faultOf(target, ofSize);
        if (fault !== undefined) faults.push(`${what}: ${fault}`);
      }
      expect(faults).toEqual([]);
    },
    patienceOf(1),
  );
});
