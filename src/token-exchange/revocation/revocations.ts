// What sessions and access tokens record about their logins and keys, and which of them the known revocations refuse. All revocations
// are in memory, because every request checks them.
import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { TemporarilyUnavailableException } from '../../platform/http/temporarily-unavailable.exception.js';

/** The recorded login: hashes, so that it contains neither `sub` nor `sid`. */
export interface ExternalLogin {
  /** The hash of issuer and `sub`. */
  readonly sub: string;
  /** The hash of issuer and `sid`; undefined if the external token had none. */
  readonly sid?: string;
  /** `iat` of the external token, in seconds since the Unix epoch. */
  readonly iat: number;
}

/** Claims that identify a login, or what a logout ends. */
interface NamingClaims {
  readonly sub?: string;
  readonly sid?: string;
}

/** What a logout ends. */
export interface Logout {
  /** The trusted key entry's issuer. */
  readonly issuer: string;
  /** Logins with one of these keys; without keys, all of the issuer's logins. */
  readonly keys: readonly string[];
  /** Logins by tokens issued until this time end: seconds since the Unix epoch, by the clocks of issuer and provider. */
  readonly until: number;
  /** Sessions and tokens created until this time end too, by the clock of this process. */
  readonly at: Date;
}

/** 128 bits in base64url. */
const KEY_CHARACTERS = 22;

export function externalLoginOf({
  iss,
  sub,
  sid,
  iat,
}: { iss: string; sub: string; iat: number } & NamingClaims): ExternalLogin {
  const hasSession = sid !== undefined && sid !== '';
  return { sub: keyOf('sub', iss, sub), ...(hasSession && { sid: keyOf('sid', iss, sid) }), iat };
}

/** The keys by which a logout finds a login. The second is the provider session's, or says that there is none. */
export function keysOfLogin({ sub, sid }: ExternalLogin): readonly [string, string] {
  return [sub, sid ?? withoutSession(sub)];
}

/**
 * @rule D131 A logout with `sid` ends the logins of that provider session. If it also names `sub`, it ends the subject's logins
 * without `sid` too, which may belong to that session. A logout with `sub` alone ends all logins of the subject.
 * @param issuer the entry's issuer: logins of other issuers have other keys
 */
export function keysOfLogout(issuer: string, { sub, sid }: NamingClaims): string[] {
  const subject = sub === undefined ? [] : [keyOf('sub', issuer, sub)];
  if (sid === undefined) return subject;
  return [keyOf('sid', issuer, sid), ...subject.map(withoutSession)];
}

/** @returns undefined for any other value */
export function readExternalLogins(recorded: unknown): ExternalLogin[] | undefined {
  return Array.isArray(recorded) && recorded.every(isExternalLogin) ? recorded : undefined;
}

function isExternalLogin(value: unknown): value is ExternalLogin {
  const { sub, sid, iat } = (value ?? {}) as Partial<Record<keyof ExternalLogin, unknown>>;
  return typeof sub === 'string' && ['string', 'undefined'].includes(typeof sid) && typeof iat === 'number';
}

function withoutSession(subject: string): string {
  return `${subject}-none`;
}

function keyOf(kind: 'sub' | 'sid', issuer: string, value: string): string {
  return hash('sha256', JSON.stringify([kind, issuer, value]), 'base64url').slice(0, KEY_CHARACTERS);
}

/** A trusted key that signed for a token or session: the subject's, or the actor's. */
export interface IssuerKey {
  readonly issuer: string;
  readonly kid: string;
  /** Whether an administrator stored its entry: see `isBarred`. Default false. */
  readonly byAdministrator?: boolean;
}

/** The recorded form of a key. */
export interface RecordedKey {
  readonly iss: string;
  readonly kid: string;
  /** Marks a key whose entry an administrator stored. */
  readonly by?: 'administrator';
}

/** The recorded form of keys in a token and in a session's row, each once. */
export function recordedKeys(keys: readonly IssuerKey[]): RecordedKey[] {
  const recorded = keys.map(({ issuer, kid, byAdministrator = false }): RecordedKey => {
    const key = { iss: issuer, kid };
    return byAdministrator ? { ...key, by: 'administrator' } : key;
  });
  return [...new Map(recorded.map((key) => [JSON.stringify(key), key])).values()];
}

/** @returns undefined for any other value */
export function readRecordedKeys(recorded: unknown): IssuerKey[] | undefined {
  if (!Array.isArray(recorded) || !recorded.every(isRecordedKey)) return undefined;
  return recorded.map(({ iss, kid, by }) => ({
    issuer: iss,
    kid,
    ...(by !== undefined && { byAdministrator: true }),
  }));
}

function isRecordedKey(value: unknown): value is RecordedKey {
  const { iss, kid } = (value ?? {}) as Partial<Record<keyof RecordedKey, unknown>>;
  return typeof iss === 'string' && typeof kid === 'string';
}

/** Revoked trust in one key of an issuer or in all of them. */
export interface TrustRevocation {
  readonly issuer: string;
  /** Null means every key of the issuer. */
  readonly kid: string | null;
  readonly revokedAt: Date;
  /** Null while the revocation is in force. */
  readonly restoredAt: Date | null;
}

/** The revocations in the database at one moment. */
export interface RevocationNews {
  /** All trust revocations. */
  readonly trust: readonly TrustRevocation[];
  /** The access tokens that were revoked singly, with their expiry; at least the new ones. */
  readonly endedTokens: readonly { readonly id: string; readonly expiresAt: Date }[];
  /** Logouts by providers, at least the new ones. */
  readonly logouts: readonly Logout[];
}

/** A session to check: the keys that signed for it, and when it was opened. */
export interface RevocableSession {
  /** Undefined if they are unknown. */
  readonly keys: readonly IssuerKey[] | undefined;
  readonly sinceMs: number;
  /** The external logins that it comes from; empty if they are unknown, and then no provider can end it. */
  readonly logins?: readonly ExternalLogin[];
}

/** An access token to check. */
export interface RevocableToken extends RevocableSession {
  /** Its `jti`. */
  readonly id: string;
}

/** How long an instance whose clock is behind may still accept expired tokens. */
export const CLOCK_DIFFERENCE_MS = 60_000;
/** Sessions and access tokens live a day at most. The rest covers differing clocks. */
export const LOGOUT_KEPT_MS = 25 * 3_600_000;
/** After this time without news, revocations are unknown. */
const KNOWN_FOR_MS = 10_000;

const FORGET_EVERY_MS = 60_000;
/** Times in access tokens are whole seconds, so a token of the same second may belong to a later login. */
const SAME_SECOND_MS = 1_000;

/** The time up to which logins are ended: see `Logout`. */
interface LoggedOut {
  readonly until: number;
  readonly atMs: number;
}

/** The logouts of an issuer. */
interface LogoutsOfIssuer {
  /** The end of all its logins, which replaces earlier ones by key. */
  all?: LoggedOut;
  readonly byKey: Map<string, LoggedOut>;
}

/** The times until which keys of an issuer are refused, in milliseconds; infinite while they are revoked. */
interface RefusedUntil {
  allKeysMs: number;
  readonly byKid: Map<string, number>;
}

const NEVER = Number.NEGATIVE_INFINITY;
const RESTORED_MARGIN_MS = 1_000;

/**
 * Clocks: the issuing instance writes issue times, and the revoking process writes revocation times. While a revocation is in
 * force, neither matters, because everything of its keys is refused, even if another instance issues it before it reads the
 * revocation. After a restoration, everything issued before it is refused, except in the last second: times in tokens are whole
 * seconds, and the first token after the restoration must be valid. So the difference of two clocks matters only for what is
 * issued right after a restoration.
 *
 * Memory: about 200 bytes for each trust revocation, in force or restored, for each revoked access token until it expires, and
 * for each subject or session that a provider has signed out within a day (`MAX_LOGOUTS` per issuer).
 */
@Injectable()
export class Revocations {
  private issuers = new Map<string, RefusedUntil>();
  private latestMs = NEVER;
  private readonly endedTokens = new Map<string, number>();
  private readonly logouts = new Map<string, LogoutsOfIssuer>();
  /** On the process's monotonic clock, because the age of the knowledge must not depend on a clock that can be set. */
  private knownAtMs = NEVER;
  private forgotAtMs = NEVER;

  /**
   * Applies a reading. For trust the reading that began later wins; ended tokens add up.
   * @param begunAtMs start of the reading, by `performance.now()`: it includes everything committed before. Infinity without
   * other writers, minus infinity for an incomplete reading
   * @param nowMs the present time, after which expired ended tokens are forgotten
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
   * @rule D60 An instance that could not read revocations for 10 seconds accepts no credential and issues none.
   * @throws TemporarilyUnavailableException
   */
  ensureKnown(): void {
    if (this.isKnown) return;
    throw new TemporarilyUnavailableException('Revocations cannot be read at present');
  }

  /**
   * Whether this key is revoked, as far as this instance knows. See `ensureKnown` for whether it knows enough.
   */
  isRevoked({ issuer, kid }: IssuerKey): boolean {
    return this.refusedUntilMs({ issuer, kid }) === Number.POSITIVE_INFINITY;
  }

  /** @throws TemporarilyUnavailableException */
  refusesToken(token: RevocableToken): boolean {
    return this.refuses(token) || this.endedTokens.has(token.id);
  }

  /**
   * Whether a session is refused because of one of its keys.
   * @rule D59 While a key is revoked, everything that it signed for is refused. After a restoration, everything older stays refused.
   * Without recorded keys, the revocation of any key applies.
   * @throws TemporarilyUnavailableException
   */
  refuses(session: RevocableSession): boolean {
    this.ensureKnown();
    return this.hasRefused(session);
  }

  /**
   * Whether the provider has signed out a login, as far as this instance knows.
   * @param keys that signed for it; if they are unknown, the logins of every issuer apply
   * @param sinceMs when its session or access token was created; absent for a login in progress
   * @rule D132 A logout ends sessions and access tokens that were created before it arrived, and those by external tokens issued until
   * its `iat`, even if they are committed after it.
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

  /** Like `refuses`, but by the revocations known so far, however old they are. */
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

/** Whether the first adds nothing to the second. */
function isCovered(one: LoggedOut, other: LoggedOut | undefined): boolean {
  return other !== undefined && one.until <= other.until && one.atMs <= other.atMs;
}

function refusedUntil({ revokedAt, restoredAt }: TrustRevocation): number {
  if (restoredAt === null) return Number.POSITIVE_INFINITY;
  return Math.max(revokedAt.getTime(), restoredAt.getTime() - RESTORED_MARGIN_MS);
}
