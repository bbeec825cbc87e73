// Keeps access tokens until shortly before they expire. A full cache drops the least recently used.
import type { PartnerClock } from './clock.js';
import type { AccessToken } from './exchange-request.js';

/** A token is not returned in its last seconds, so that its call arrives in time. */
const MARGIN_SECONDS = 10;
/** Limits that margin to a part of a short lifetime. */
const LARGEST_MARGIN = 0.2;

interface Kept {
  readonly token: AccessToken;
  /** By the monotonic clock. */
  readonly untilMs: number;
  /** By the wall clock, which continues while the machine sleeps. */
  readonly untilTimeMs: number;
}

/** A token is kept until shortly before it expires. */
export class AccessTokenCache {
  private readonly kept = new Map<string, Kept>();

  /** @param size the maximum number of tokens; 0 keeps none */
  constructor(
    private readonly size: number,
    private readonly clock: PartnerClock,
  ) {}

  get(id: string): AccessToken | undefined {
    const found = this.kept.get(id);
    if (found === undefined) return undefined;
    this.kept.delete(id);
    if (!this.isGood(found)) return undefined;
    // Moves the token to the end: the most recently used is dropped last.
    this.kept.set(id, found);
    return found.token;
  }

  /** @param sentMs when the token was requested: its lifetime did not begin earlier */
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

  /** @param accessToken drops only this token; default: whichever is kept */
  forget(id: string, accessToken = this.kept.get(id)?.token.accessToken): void {
    if (this.kept.get(id)?.token.accessToken === accessToken) this.kept.delete(id);
  }

  /** @param isOver receives the id of each token */
  forgetWhere(isOver: (id: string) => boolean): void {
    for (const id of this.kept.keys()) if (isOver(id)) this.kept.delete(id);
  }

  private isGood({ untilMs, untilTimeMs }: Kept): boolean {
    return this.clock.monotonicMs() < untilMs && this.clock.nowMs() < untilTimeMs;
  }
}
