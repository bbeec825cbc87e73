// Keeps access tokens until shortly before they expire, the ones used longest ago making room.
import type { AccessToken } from './exchange-request.js';

/** A token is not handed out in its last seconds, so that the call made with it still arrives in time. */
const MARGIN_SECONDS = 10;
/** Of a short life that would leave nothing. */
const LARGEST_MARGIN = 0.2;

/** @rule D119 A token is kept until shortly before it expires. */
export class AccessTokenCache {
  private readonly kept = new Map<string, { token: AccessToken; untilMs: number }>();

  /** @param size how many tokens; 0 keeps none */
  constructor(
    private readonly size: number,
    private readonly monotonicMs: () => number,
  ) {}

  get(id: string): AccessToken | undefined {
    const found = this.kept.get(id);
    if (found === undefined) return undefined;
    this.kept.delete(id);
    if (this.monotonicMs() >= found.untilMs) return undefined;
    // Behind all others: what is used lately goes last.
    this.kept.set(id, found);
    return found.token;
  }

  /** @param sentMs when it was asked for: its life began later, if anything */
  put(id: string, token: AccessToken, sentMs: number, lifeSeconds: number): void {
    const margin = Math.min(MARGIN_SECONDS, lifeSeconds * LARGEST_MARGIN);
    this.kept.delete(id);
    this.kept.set(id, { token, untilMs: sentMs + (lifeSeconds - margin) * 1000 });
    for (const [each, { untilMs }] of this.kept) {
      if (this.kept.size <= this.size && this.monotonicMs() < untilMs) break;
      this.kept.delete(each);
    }
  }

  forget(id: string): void {
    this.kept.delete(id);
  }
}
