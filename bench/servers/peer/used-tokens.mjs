// Remembers in memory which tokens were used, until they expire.

const TOKENS_BETWEEN_SWEEPS = 1_000;

export class UsedTokens {
  expiries = new Map();
  sinceSweep = 0;

  /** False when the token was used before. @param exp seconds since the Unix epoch */
  use(jti, exp) {
    if (this.expiries.has(jti)) return false;
    this.expiries.set(jti, exp);
    this.sinceSweep += 1;
    if (this.sinceSweep >= TOKENS_BETWEEN_SWEEPS) this.sweep();
    return true;
  }

  /** A map keeps the order of its insertions, which is nearly that of expiry: the oldest go until one still lives. */
  sweep() {
    this.sinceSweep = 0;
    const now = Date.now() / 1000;
    for (const [jti, exp] of this.expiries) {
      if (exp > now) return;
      this.expiries.delete(jti);
    }
  }
}
