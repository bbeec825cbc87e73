// Users and used tokens in memory: what a database does otherwise.
const TOKENS_BETWEEN_SWEEPS = 1_000;

export class UsersInMemory {
  /** Until they expire: by token id, when they do. */
  usedTokens = new Map();
  sinceSweep = 0;

  constructor(subjects) {
    this.users = new Map(subjects.map((subject, index) => [subject, `user-${index}`]));
  }

  /** Uses the token up. Answers the user's id; undefined when the exchange is refused. */
  exchange({ subject: { claims } }) {
    const userId = this.users.get(claims.sub);
    return userId !== undefined && this.useUp(claims) ? userId : undefined;
  }

  /** False when the token was used before. */
  useUp({ jti, exp }) {
    if (this.usedTokens.has(jti)) return false;
    this.usedTokens.set(jti, exp);
    this.sinceSweep += 1;
    if (this.sinceSweep >= TOKENS_BETWEEN_SWEEPS) this.sweep();
    return true;
  }

  /** A map keeps the order of its insertions, which is nearly that of expiry: the oldest go until one still lives. */
  sweep() {
    this.sinceSweep = 0;
    const now = Date.now() / 1000;
    for (const [jti, exp] of this.usedTokens) {
      if (exp > now) return;
      this.usedTokens.delete(jti);
    }
  }
}
