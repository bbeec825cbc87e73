// Asks the instances to fetch key sets now, and returns the outcome.
import { setTimeout as pause } from 'node:timers/promises';
import type { JwksSnapshotRepository } from '../token-exchange/instance.js';
import { readMembers, wholeNumber } from './input.js';
import type { ChosenKeySets, StoredKeySet } from './list-key-sets.operation.js';
import { hashes, storedKeySet } from './list-key-sets.operation.js';
import type { ListOperation } from './operation.js';

const LOOK_EVERY_MS = 500;
export const LONGEST_WAIT_SECONDS = 60;

interface RefreshedKeySets extends ChosenKeySets {
  /** How long an outcome is waited for. */
  readonly waitSeconds: number;
}

/**
 * The leader fetches, also if another instance gets the command: what is due is in the database. An item comes for each address
 * with an outcome since; addresses without one in time have none.
 * @rule D118 A key set is fetched at once by making it due in the database, so that the leader does it as it always does. See
 * jwks-snapshot.follower.ts for how the leader hears of it.
 */
export const REFRESH_KEY_SETS: ListOperation<RefreshedKeySets, StoredKeySet> = {
  name: 'keys refresh',
  isAct: true,
  read: (input) =>
    readMembers<RefreshedKeySets>(input, {
      urlHashes: hashes,
      waitSeconds: wholeNumber(1, LONGEST_WAIT_SECONDS),
    }),

  async *list({ urlHashes, waitSeconds }, { keySets }, stop) {
    const before = await attemptsOf(keySets, urlHashes);
    await keySets.makeDue(urlHashes);
    const open = new Set(urlHashes);
    const deadline = performance.now() + waitSeconds * 1000;
    while (open.size > 0 && performance.now() < deadline && !stop.aborted) {
      await pause(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
      const found = await Promise.all((await keySets.find([...open])).map(storedKeySet));
      const settled = found.filter((set) => attemptOf(set) !== before.get(set.urlHash));
      for (const { urlHash } of settled) open.delete(urlHash);
      // Also an empty page, to find out whether the client still waits.
      yield settled;
    }
  },
};

/** Distinguishes one attempt of an address from the next. */
async function attemptsOf(
  keySets: JwksSnapshotRepository,
  urlHashes: readonly string[],
): Promise<Map<string, string>> {
  const stored = await Promise.all((await keySets.find(urlHashes)).map(storedKeySet));
  return new Map(stored.map((set) => [set.urlHash, attemptOf(set)]));
}

function attemptOf({ lastSuccess, lastFailure }: StoredKeySet): string {
  return JSON.stringify([lastSuccess, lastFailure?.at]);
}
