// Re-encrypts with the first key what other keys have sealed, while the service keeps writing.
import type { KeyRing } from './key-ring.js';
import { SealError } from './key-ring.js';

/** One sealed value of a table. */
export interface SealedRow {
  readonly key: string;
  readonly envelope: Buffer;
}

/** A table with a sealed column. Repositories implement it. */
export interface SealedRows {
  /** Identifies the row and column for which an envelope is sealed, by the row's key. */
  sealedFor(key: string): string;
  /** At most `limit` rows after `afterKey`, in a stable order; empty after the last. */
  readSealed(afterKey: string | undefined, limit: number): Promise<SealedRow[]>;
  /** Replaces a row's envelope, unless the row was changed or deleted meanwhile. */
  replaceSealed(row: SealedRow, envelope: Buffer): Promise<boolean>;
  /** Deletes a row, unless it was changed or deleted meanwhile. */
  discardSealed(row: SealedRow): Promise<boolean>;
}

/** What to do with a value that no key of the ring can unseal. */
export type Unreadable = 'kept' | 'discarded';

export interface Resealing {
  /** The number of values that were sealed again. */
  readonly count: number;
  /** The number of rows that were deleted because no key unseals them. */
  readonly discarded: number;
  /** Values that cannot be unsealed, with the reason. They are not changed. */
  readonly failures: readonly { readonly key: string; readonly reason: string }[];
  /** False if values with another key kept appearing: another process still seals with it. */
  readonly isComplete: boolean;
}

const BATCH_SIZE = 500;
/** More consecutive passes with work mean a writer with another key, not a race. */
const MAX_PASSES = 5;

/**
 * Repeats passes over the table until one finds nothing to do, because other processes write rows meanwhile.
 */
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
  /** Rows that were changed during the pass. The next pass checks them again. */
  overtaken: number;
  failures: { key: string; reason: string }[];
}

async function resealOnce(rows: SealedRows, keyRing: KeyRing, unreadable: Unreadable): Promise<Pass> {
  const pass: Pass = { resealed: 0, discarded: 0, overtaken: 0, failures: [] };
  for await (const row of allOf(rows))
    if (!keyRing.isSealedUnderFirstKey(row.envelope)) await step(row, rows, keyRing, unreadable, pass);
  return pass;
}

/** Lists the values that cannot be unsealed. Changes nothing. */
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
