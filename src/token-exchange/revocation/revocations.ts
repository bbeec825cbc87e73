// What this process knows of revocations, and what they refuse: answered from memory, at every request.
import { Injectable } from '@nestjs/common';
import { TemporarilyUnavailableException } from '../../platform/http/temporarily-unavailable.exception.js';
import { CLOCK_DIFFERENCE_MS, LOGOUT_KEPT_MS } from '../retention/purges.js';
import type { ExternalLogin, IssuerKey, Logout } from './external-login.js';
import { keysOfLogin } from './external-login.js';

/** Trust that was taken back, in one key of an issuer or in all of them. */
export interface TrustRevocation {
  readonly issuer: string;
  /** Null: every key of the issuer. */
  readonly kid: string | null;
  readonly revokedAt: Date;
  /** Null while it holds. */
  readonly restoredAt: Date | null;
}

/** The revocations in the database at one moment. */
export interface RevocationNews {
  /** All there are. */
  readonly trust: readonly TrustRevocation[];
  /** Access tokens that were ended by themselves, new ones at least, with the end of their lives. */
  readonly endedTokens: readonly { readonly id: string; readonly expiresAt: Date }[];
  /** Logouts by providers, new ones at least. */
  readonly logouts: readonly Logout[];
}

/** A session to check: the keys that signed for it, and when it was opened. */
export interface RevocableSession {
  /** Undefined where nothing is known of them. */
  readonly keys: readonly IssuerKey[] | undefined;
  readonly sinceMs: number;
  /** The external logins that it comes from; none where that is not known, and then no provider ends it. */
  readonly logins?: readonly ExternalLogin[];
}

/** An access token to check. */
export interface RevocableToken extends RevocableSession {
  /** Its `jti`. */
  readonly id: string;
}

/** Without news for so long, revocations are unknown. */
const KNOWN_FOR_MS = 10_000;

const FORGET_EVERY_MS = 60_000;
/** The times of access tokens are whole seconds: one of the same second may be of a later login. */
const SAME_SECOND_MS = 1_000;

/** Up to when logins are ended: see `Logout`. */
interface LoggedOut {
  readonly until: number;
  readonly atMs: number;
}

/** The logouts of an issuer. */
interface LogoutsOfIssuer {
  /** Of all its logins, in place of earlier ones by key. */
  all?: LoggedOut;
  readonly byKey: Map<string, LoggedOut>;
}

/** The times up to which keys of an issuer are refused, in milliseconds; infinite while they are revoked. */
interface RefusedUntil {
  allKeysMs: number;
  readonly byKid: Map<string, number>;
}

const NEVER = Number.NEGATIVE_INFINITY;
const RESTORED_MARGIN_MS = 1_000;

/**
 * Whose clock? Issue times are written by the instance that issues, revocation times by the process that revokes. While a
 * revocation holds neither counts: everything of its keys is refused, also what another instance issues in the seconds before
 * it hears of it. At the restoration it is refused up to then, but for the last second: the times of tokens are whole seconds,
 * and the first one after it shall hold. So clocks matter in one place only: between a restoration and what is issued right after it, by as much as two
 * instances differ.
 *
 * In memory: one entry for each trust revocation there ever was, each access token that was ended and would still live, and each
 * subject or session that a provider has signed out within a day. Of one issuer there are `MOST_LOGOUTS` of these at most. Each entry
 * takes some 200 bytes.
 */
@Injectable()
export class Revocations {
  private issuers = new Map<string, RefusedUntil>();
  private latestMs = NEVER;
  private readonly endedTokens = new Map<string, number>();
  private readonly logouts = new Map<string, LogoutsOfIssuer>();
  /** On the process's monotonic clock: the age of the knowledge must not depend on a clock that can be set. */
  private knownAtMs = NEVER;
  private forgotAtMs = NEVER;

  /**
   * Takes a reading. Of two, the one that began later counts for trust; ended tokens add up.
   * @param begunAtMs when the reading began, by `performance.now()`: what was committed before is in it. Infinite without other
   *   writers, minus infinity for a part of a reading
   * @param nowMs the present time, by which ended tokens are forgotten that no longer matter
   */
  learn({ trust, endedTokens, logouts }: RevocationNews, begunAtMs: number, nowMs: number): void {
    for (const { id, expiresAt } of endedTokens) this.endedTokens.set(id, expiresAt.getTime());
    for (const logout of logouts) this.learnLogout(logout);
    if (begunAtMs >= this.knownAtMs) {
      this.knownAtMs = begunAtMs;
      this.replaceTrust(trust);
    }
    if (nowMs - this.forgotAtMs >= FORGET_EVERY_MS || nowMs < this.forgotAtMs) this.forget(nowMs);
  }

  get isKnown(): boolean {
    return performance.now() - this.knownAtMs <= KNOWN_FOR_MS;
  }

  /**
   * @rule D60 An instance that could not read what was revoked for 10 seconds takes no credential and issues none.
   * @throws TemporarilyUnavailableException
   */
  ensureKnown(): void {
    if (this.isKnown) return;
    throw new TemporarilyUnavailableException('Revocations cannot be read at present');
  }

  /**
   * Whether nothing may be issued for what this key signs, as far as this instance knows.
   * See `ensureKnown` for whether it knows enough.
   */
  isRevoked({ issuer, kid }: IssuerKey): boolean {
    return this.refusedUntilMs({ issuer, kid }) === Number.POSITIVE_INFINITY;
  }

  /** @throws TemporarilyUnavailableException */
  refusesToken(token: RevocableToken): boolean {
    return this.refuses(token) || this.endedTokens.has(token.id);
  }

  /**
   * @rule D59 What any of its keys signed for is refused: all of it while the key is revoked, and for good what is older than the
   *   restoration. Without recorded keys, every key counts.
   *
   * Whether one of its keys refuses a session.
   * @throws TemporarilyUnavailableException
   */
  refuses(session: RevocableSession): boolean {
    this.ensureKnown();
    return this.hasRefused(session);
  }

  /**
   * Whether the provider has signed out a login, as far as this instance knows.
   * @param keys that signed for it; where they are not known, the logins of every issuer count
   * @param sinceMs when a session or an access token of it was made; left out for one that is under way
   * @rule D132 A logout ends what was opened until it came, and what a token opens that was issued until its `iat`, whichever of the
   * two is committed first.
   */
  isLoggedOut(
    login: ExternalLogin,
    keys: readonly IssuerKey[] = [],
    sinceMs = Number.POSITIVE_INFINITY,
  ): boolean {
    const issuers = keys.length === 0 ? [...this.logouts.keys()] : keys.map(({ issuer }) => issuer);
    const ends = (logout: LoggedOut | undefined) =>
      logout !== undefined && (login.iat <= logout.until || sinceMs <= logout.atMs - SAME_SECOND_MS);
    return issuers.some((issuer) => {
      const held = this.logouts.get(issuer);
      return (
        held !== undefined && (ends(held.all) || keysOfLogin(login).some((key) => ends(held.byKey.get(key))))
      );
    });
  }

  /** The same as `refuses`, as far as this instance knows. */
  hasRefused({ keys, sinceMs, logins = [] }: RevocableSession): boolean {
    if (logins.some((login) => this.isLoggedOut(login, keys, sinceMs))) return true;
    if (keys === undefined) return sinceMs <= this.latestMs;
    return keys.some((key) => sinceMs <= this.refusedUntilMs(key));
  }

  private learnLogout({ issuer, keys, until, at }: Logout): void {
    const logout = { until, atMs: at.getTime() };
    const held = this.logouts.get(issuer) ?? { byKey: new Map<string, LoggedOut>() };
    this.logouts.set(issuer, held);
    for (const key of keys) held.byKey.set(key, laterOf(logout, held.byKey.get(key)));
    if (keys.length > 0 || isCovered(logout, held.all)) return;
    held.all = laterOf(logout, held.all);
    for (const [key, one] of held.byKey) if (isCovered(one, held.all)) held.byKey.delete(key);
  }

  private refusedUntilMs({ issuer, kid }: IssuerKey): number {
    const refused = this.issuers.get(issuer);
    if (refused === undefined) return NEVER;
    return Math.max(refused.allKeysMs, refused.byKid.get(kid) ?? NEVER);
  }

  private replaceTrust(trust: readonly TrustRevocation[]): void {
    const issuers = new Map<string, RefusedUntil>();
    this.latestMs = NEVER;
    for (const revocation of trust) {
      const { issuer, kid } = revocation;
      const refused = issuers.get(issuer) ?? { allKeysMs: NEVER, byKid: new Map() };
      issuers.set(issuer, refused);
      const untilMs = refusedUntil(revocation);
      if (kid === null) refused.allKeysMs = untilMs;
      else refused.byKid.set(kid, untilMs);
      this.latestMs = Math.max(this.latestMs, untilMs);
    }
    this.issuers = issuers;
  }

  private forget(nowMs: number): void {
    this.forgotAtMs = nowMs;
    for (const [id, expiresAtMs] of this.endedTokens)
      if (expiresAtMs < nowMs - CLOCK_DIFFERENCE_MS) this.endedTokens.delete(id);
    const isOver = ({ atMs }: LoggedOut) => atMs < nowMs - LOGOUT_KEPT_MS;
    for (const [issuer, held] of this.logouts) {
      for (const [key, logout] of held.byKey) if (isOver(logout)) held.byKey.delete(key);
      if (held.all !== undefined && isOver(held.all)) delete held.all;
      if (held.byKey.size === 0 && held.all === undefined) this.logouts.delete(issuer);
    }
  }
}

function laterOf(one: LoggedOut, other: LoggedOut = one): LoggedOut {
  return { until: Math.max(one.until, other.until), atMs: Math.max(one.atMs, other.atMs) };
}

/** Whether one says nothing that the other does not. */
function isCovered(one: LoggedOut, other: LoggedOut | undefined): boolean {
  return other !== undefined && one.until <= other.until && one.atMs <= other.atMs;
}

function refusedUntil({ revokedAt, restoredAt }: TrustRevocation): number {
  if (restoredAt === null) return Number.POSITIVE_INFINITY;
  return Math.max(revokedAt.getTime(), restoredAt.getTime() - RESTORED_MARGIN_MS);
}
