// Keeps access tokens until shortly before they expire, the ones used longest ago making room.
import type { PartnerClock } from './clock.js';
import type { AccessToken } from './exchange-request.js';

/** A token is not handed out in its last seconds, so that the call made with it still arrives in time. */
const MARGIN_SECONDS = 10;
/** Of a short life that would leave nothing. */
const LARGEST_MARGIN = 0.2;

interface Kept {
  readonly token: AccessToken;
  /** By the clock that nobody sets back. */
  readonly untilMs: number;
  /** By the clock that goes on while the machine sleeps. */
  readonly untilTimeMs: number;
}

/** @rule D119 A token is kept until shortly before it expires. */
export class AccessTokenCache {
  private readonly kept = new Map<string, Kept>();

  /** @param size how many tokens; 0 keeps none */
  constructor(
    private readonly size: number,
    private readonly clock: PartnerClock,
  ) {}

  get(id: string): AccessToken | undefined {
    const found = this.kept.get(id);
    if (found === undefined) return undefined;
    this.kept.delete(id);
    if (!this.isGood(found)) return undefined;
    // Behind all others: what is used lately goes last.
    this.kept.set(id, found);
    return found.token;
  }

  /** @param sentMs when it was asked for: its life began later, if anything */
  put(id: string, token: AccessToken, sentMs: number, lifeSeconds: number): void {
    const marginMs = Math.min(MARGIN_SECONDS, lifeSeconds * LARGEST_MARGIN) * 1000;
    const untilMs = sentMs + lifeSeconds * 1000 - marginMs;
    this.kept.delete(id);
    this.kept.set(id, { token, untilMs, untilTimeMs: token.expiresAt.getTime() - marginMs });
    for (const [each, found] of this.kept) {
      if (this.kept.size <= this.size && this.isGood(found)) break;
      this.kept.delete(each);
    }
  }

  /** @param accessToken forgotten only if it is the one that is kept; whichever it is if left out */
  forget(id: string, accessToken = this.kept.get(id)?.token.accessToken): void {
    if (this.kept.get(id)?.token.accessToken === accessToken) this.kept.delete(id);
  }

  /** @param isOver by the id that a token was put under */
  forgetWhere(isOver: (id: string) => boolean): void {
    for (const id of this.kept.keys()) if (isOver(id)) this.kept.delete(id);
  }

  private isGood({ untilMs, untilTimeMs }: Kept): boolean {
    return this.clock.monotonicMs() < untilMs && this.clock.nowMs() < untilTimeMs;
  }
}
