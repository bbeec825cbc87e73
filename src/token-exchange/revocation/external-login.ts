// What sessions and access tokens record of the login that they come from, so that its provider, or a revocation of a key, can end them.
import { hash } from 'node:crypto';

/** As sessions and access tokens record it: by hashes, so that no `sub` and no `sid` is in them. */
export interface ExternalLogin {
  /** Of issuer and `sub`. */
  readonly sub: string;
  /** Of issuer and `sid`; undefined where the external token had none. */
  readonly sid?: string;
  /** `iat` of the external token, in seconds since the Unix epoch. */
  readonly iat: number;
}

/** Claims by which a login, or what a logout ends, is known. */
interface NamingClaims {
  readonly sub?: string;
  readonly sid?: string;
}

/** What a logout ends. */
export interface Logout {
  /** Of the trusted key entry. */
  readonly issuer: string;
  /** Logins with one of these keys; without any, all of the issuer. */
  readonly keys: readonly string[];
  /** Logins by tokens that were issued until then, in seconds since the Unix epoch: by the clocks of issuer and provider. */
  readonly until: number;
  /** Sessions and tokens until then end too, on the clock of this process. */
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

/** By which a login is ended. The second is of its session at the provider, or says that there is none. */
export function keysOfLogin({ sub, sid }: ExternalLogin): readonly [string, string] {
  return [sub, sid ?? withoutSession(sub)];
}

/**
 * @rule D131 A logout with `sid` ends what that session of the provider has opened. Where it names `sub` too, also what that
 * subject has opened by tokens without `sid`, which may be of that session. One with `sub` alone ends all of that subject.
 * @param issuer of the trusted key entry: no login of another one has the same keys
 */
export function keysOfLogout(issuer: string, { sub, sid }: NamingClaims): string[] {
  const subject = sub === undefined ? [] : [keyOf('sub', issuer, sub)];
  if (sid === undefined) return subject;
  return [keyOf('sid', issuer, sid), ...subject.map(withoutSession)];
}

/** Undefined for what is not such a record. */
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

/** A trusted key that took part when a token was issued or a session opened: the subject's, or the actor's. */
export interface IssuerKey {
  readonly issuer: string;
  readonly kid: string;
  /** Whether an administrator stored its entry: see `isBarred`. Default false. */
  readonly byAdministrator?: boolean;
}

/** As tokens and sessions record it. */
export interface RecordedKey {
  readonly iss: string;
  readonly kid: string;
  /** Of a key whose entry an administrator stored. */
  readonly by?: 'administrator';
}

/** How keys are recorded, in a token and in a session's row; each once. */
export function recordedKeys(keys: readonly IssuerKey[]): RecordedKey[] {
  const recorded = keys.map(({ issuer, kid, byAdministrator = false }): RecordedKey => {
    const key = { iss: issuer, kid };
    return byAdministrator ? { ...key, by: 'administrator' } : key;
  });
  return [...new Map(recorded.map((key) => [JSON.stringify(key), key])).values()];
}

/** Undefined for what is not such a record. */
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
