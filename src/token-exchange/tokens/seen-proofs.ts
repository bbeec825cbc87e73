// Remembers the DPoP proofs of calls to the API, so that this process takes each once.
import type { TokenUse } from '../replay/token-use.js';
import { jtiHashOf } from '../replay/token-use.js';

/** Some 15 MB when full. */
const MAX_PROOFS = 100_000;

/** A call to the API writes nothing for its proof: each process takes a proof once, as long as it remembers it (D142). */
export class SeenProofs {
  /** When the proofs are over, in seconds since the Unix epoch, by the hashes of their ids. The oldest is the first. */
  private readonly ends = new Map<string, number>();
  /** What had ended by then may be forgotten. Never goes back, though clocks may. */
  private latest = 0;

  /** @param onForgotten called for each proof that has made room while it was still good */
  constructor(
    private readonly onForgotten: () => void,
    private readonly maxProofs = MAX_PROOFS,
  ) {}

  /** @returns false where it was taken before, or that is not known any more */
  take({ jti, exp }: TokenUse, now: number): boolean {
    this.latest = Math.max(this.latest, now);
    const hash = jtiHashOf(jti);
    if (exp < this.latest || this.ends.has(hash)) return false;
    this.makeRoom();
    this.ends.set(hash, exp);
    return true;
  }

  /** From the oldest on, up to the first that has its place. */
  private makeRoom(): void {
    for (const [hash, end] of this.ends) {
      const isGood = end >= this.latest;
      if (isGood && this.ends.size < this.maxProofs) return;
      if (isGood) this.onForgotten();
      this.ends.delete(hash);
    }
  }
}
