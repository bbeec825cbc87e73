// What sessions and access tokens record about their login, so that its provider, or a revocation of a key, can end them.
import { hash } from 'node:crypto';

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
  /** Of the trusted key entry. */
  readonly issuer: string;
  /** Logins with one of these keys; without keys, all of the issuer's logins. */
  readonly keys: readonly string[];
  /** Logins by tokens issued until then, in seconds since the Unix epoch, by the clocks of issuer and provider. */
  readonly until: number;
  /** Sessions and tokens until then end too, by the clock of this process. */
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
