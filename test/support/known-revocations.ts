// Makes revocations as a process knows them right after it has read them.
import type { RevocationNews } from '../../src/token-exchange/revocation/revocations.js';
import { Revocations } from '../../src/token-exchange/revocation/revocations.js';

/** Revocations that never become stale, like on a database without other writers. */
export function knownRevocations(news: Partial<RevocationNews> = {}, nowMs = Date.now()): Revocations {
  const revocations = new Revocations();
  revocations.learn({ trust: [], endedTokens: [], logouts: [], ...news }, Number.POSITIVE_INFINITY, nowMs);
  return revocations;
}
