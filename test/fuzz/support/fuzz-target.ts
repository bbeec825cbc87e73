// What random input is tried on: one reader of something that comes from outside, and what must hold of all that it answers.
import fc from 'fast-check';

/** A reader, with what its inputs are made of. */
export interface FuzzTarget<T = unknown> {
  readonly name: string;
  /** Good inputs, or nearly: most tries are damaged copies of them. */
  readonly seeds: readonly string[];
  /** Pieces that mean something to the reader, or to one before it. */
  readonly pieces: readonly string[];
  read(input: Buffer): T | Promise<T>;
  /** Whether the reader documents an error. Every other error is a fault. Left out if the reader documents none. */
  isRefusal?(error: unknown): boolean;
  /** @throws Error if the value read from the input is invalid */
  judge(input: Buffer, value: T): void;
}

export type Verdict = 'taken' | 'refused';

/** What has come of the inputs so far. */
export type Tally = Record<Verdict, number>;

const ODD_PIECES = ['\0', '\ud800', '\u0085', '\u2028', '\ufeff', 'é', '😀', '%', '+', ' ', '\t', '\r\n', ''];
const MAX_EDITS = 6;
const MAX_REMOVED_BYTES = 12;
const MAX_PIECES = 12;

/**
 * Reads one input.
 * @throws Error if the reader throws an undocumented error or returns an invalid value
 */
export async function tryInput<T>(target: FuzzTarget<T>, input: Buffer): Promise<Verdict> {
  let value: T;
  try {
    value = await target.read(input);
  } catch (error) {
    if (target.isRefusal?.(error)) return 'refused';
    throw error;
  }
  target.judge(input, value);
  return 'taken';
}

/** Inputs of all kinds: mostly seeds with a few edits, then strings of pieces, then any bytes. */
export function inputsOf({ seeds, pieces }: Pick<FuzzTarget, 'seeds' | 'pieces'>): fc.Arbitrary<Buffer> {
  const piece = fc
    .constantFrom(...pieces, ...ODD_PIECES)
    .map((text) => Buffer.from(text, text === '\ud800' ? 'utf16le' : 'utf8'));
  const anything = fc.oneof(
    { weight: 4, arbitrary: piece },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)) },
  );
  const seed = fc.constantFrom(...seeds).map((text) => Buffer.from(text));
  // As often nothing is taken away: most inputs that lose something are no more than noise.
  const removed = fc.oneof(fc.constant(0), fc.nat(MAX_REMOVED_BYTES));
  const edit = fc.record({ at: fc.nat(10_000), removed, inserted: anything });
  const edits = fc.array(edit, { maxLength: MAX_EDITS });
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(seed, edits).map(([good, list]) => list.reduce(edited, good)) },
    {
      weight: 2,
      arbitrary: fc.array(anything, { maxLength: MAX_PIECES }).map((list) => Buffer.concat(list)),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  );
}

interface Edit {
  /** Permille of the way through, in tenths. */
  readonly at: number;
  readonly removed: number;
  readonly inserted: Buffer;
}

/** The position is a share of the length, so that it stays valid after earlier edits. */
function edited(bytes: Buffer, { at, removed, inserted }: Edit): Buffer {
  const start = Math.floor((at * bytes.length) / 10_000);
  return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + removed)]);
}

/** Throws unless something holds, with what should have held. */
export function insist(holds: boolean, what: string): void {
  if (!holds) throw new Error(`it does not hold that ${what}`);
}
