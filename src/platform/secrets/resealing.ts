// Seals again, under the first key of the ring, what other keys have sealed, while the service goes on writing.
import type { KeyRing } from './key-ring.js';
import { SealError } from './key-ring.js';

/** One sealed value of a table. */
export interface SealedRow {
  readonly key: string;
  readonly envelope: Buffer;
}

/** A table with a sealed column. Its repository implements this. */
export interface SealedRows {
  /** Names the row and column that an envelope is sealed for, by the row's key. */
  sealedFor(key: string): string;
  /** At most `limit` rows after `afterKey`, in an order that stays; none after the last. */
  readSealed(afterKey: string | undefined, limit: number): Promise<SealedRow[]>;
  /** Replaces the envelope of a row, unless the row was changed or deleted since it was read. */
  replaceSealed(row: SealedRow, envelope: Buffer): Promise<boolean>;
  /** Deletes a row, unless it was changed or deleted since it was read. */
  discardSealed(row: SealedRow): Promise<boolean>;
}

/** What becomes of a value that no key of the ring opens. */
export type Unreadable = 'kept' | 'discarded';

export interface Resealing {
  /** How many values were sealed again. */
  readonly count: number;
  /** How many rows were deleted, since no key opens them. */
  readonly discarded: number;
  /** Values that cannot be unsealed, each with the reason; they are left as they are. */
  readonly failures: readonly { readonly key: string; readonly reason: string }[];
  /** False if values kept appearing under another key: another process still seals with it. */
  readonly isComplete: boolean;
}

const BATCH_SIZE = 500;
/** More passes in a row that find something mean a writer with another key, not a race. */
const MAX_PASSES = 5;

/** Goes over the table until a pass finds nothing left to do: rows are written behind its back. */
export async function reseal(
  rows: SealedRows,
  keyRing: KeyRing,
  unreadable: Unreadable = 'kept',
): Promise<Resealing> {
  const sum = { count: 0, discarded: 0 };
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const { resealed, discarded, overtaken, failures } = await resealOnce(rows, keyRing, unreadable);
    sum.count += resealed;
    sum.discarded += discarded;
    if (resealed + discarded + overtaken === 0) return { ...sum, failures, isComplete: true };
  }
  return { ...sum, failures: [], isComplete: false };
}

interface Pass {
  resealed: number;
  discarded: number;
  /** Rows that were changed at the same moment; the next pass looks at them again. */
  overtaken: number;
  failures: { key: string; reason: string }[];
}

async function resealOnce(rows: SealedRows, keyRing: KeyRing, unreadable: Unreadable): Promise<Pass> {
  const pass: Pass = { resealed: 0, discarded: 0, overtaken: 0, failures: [] };
  for await (const row of allOf(rows))
    if (!keyRing.isSealedUnderFirstKey(row.envelope)) await step(row, rows, keyRing, unreadable, pass);
  return pass;
}

/** What cannot be unsealed. Changes nothing. */
export async function unopened(rows: SealedRows, keyRing: KeyRing): Promise<Resealing['failures']> {
  const failures: Resealing['failures'][number][] = [];
  for await (const { key, envelope } of allOf(rows))
    try {
      keyRing.unseal(envelope, rows.sealedFor(key));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      failures.push({ key, reason: error.message });
    }
  return failures;
}

async function* allOf(rows: SealedRows): AsyncGenerator<SealedRow, void> {
  let afterKey: string | undefined;
  for (;;) {
    const batch = await rows.readSealed(afterKey, BATCH_SIZE);
    yield* batch;
    afterKey = batch.at(-1)?.key;
    if (batch.length < BATCH_SIZE) return;
  }
}

async function step(
  row: SealedRow,
  rows: SealedRows,
  keyRing: KeyRing,
  unreadable: Unreadable,
  pass: Pass,
): Promise<void> {
  const sealedFor = rows.sealedFor(row.key);
  try {
    const envelope = keyRing.seal(keyRing.unseal(row.envelope, sealedFor), sealedFor);
    if (await rows.replaceSealed(row, envelope)) pass.resealed++;
    else pass.overtaken++;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    if (unreadable === 'kept') pass.failures.push({ key: row.key, reason: error.message });
    else if (await rows.discardSealed(row)) pass.discarded++;
    else pass.overtaken++;
  }
}
