// Reads the claims of a correctly signed external token, and checks them by themselves: presence, types, ranges.
import { hash } from 'node:crypto';
import { hasUnstorableText, isJsonObject } from '../../platform/json/strict-json.js';
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { isEmailAddress } from '../../platform/text/email-address.js';
import { kindOf, printable } from '../../platform/text/printable.js';
import { isSameUri, mayMean } from '../../platform/text/uri.js';
import type { ClaimedProject } from '../projects/projects-claim.js';
import { readProjectsClaim } from '../projects/projects-claim.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { ClaimName, ClaimSet } from '../trust/claim-names.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import { MAX_SUBJECT_CHARACTERS } from '../workloads/workload-policy.js';
import type { CompactJws } from './compact-jws.js';

/** The id of a verified token and its expiry, in seconds since the Unix epoch. */
export interface TokenUse {
  readonly jti: string;
  readonly exp: number;
}

/** The claims by which every external token is checked. */
export interface TimedClaims extends TokenUse {
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly nbf?: number;
}

/** The claims that this service reads (2.2), with the names of the claim set. */
export interface ExternalClaims extends TimedClaims {
  readonly sub: string;
  /** The session at the provider that the token comes from (OpenID Connect Back-Channel Logout 1.0 §2.1). */
  readonly sid?: string;
  readonly email?: string;
  /** False if the issuer says anything but yes (D5); undefined if it says nothing. */
  readonly emailVerified?: boolean;
  readonly givenName?: string;
  readonly familyName?: string;
  readonly role?: string;
  /** The projects of the user; undefined: memberships stay as they are. */
  readonly projects?: readonly ClaimedProject[];
  /** The only actor allowed for this subject, if the token names one (RFC 8693 §4.4). */
  readonly mayAct?: { readonly sub: string; readonly iss?: string };
  /** The actors before this token, the latest first. They give no rights (RFC 8693 §4.1). */
  readonly priorActors?: readonly PriorActor[];
}

/**
 * What a logout token ends: with `sid` one session of the provider, with `sub` alone all of that subject. At least one is
 * present.
 */
export interface LogoutClaims extends TimedClaims {
  readonly sub?: string;
  readonly sid?: string;
}

/** A partner's question about a refusal: the id of the refused request. */
export interface ExplainClaims extends TimedClaims {
  readonly requestId: string;
}

/** The further claims of an identity assertion. */
export interface AssertionClaims {
  readonly clientId: string;
  /** The scopes that its issuer grants, separated by spaces; undefined: not limited. */
  readonly scope?: string;
  /** The services that it is for; undefined: none is named. */
  readonly resource?: readonly string[];
  /** The id of the local user (`aud_sub`); undefined: only `iss` and `sub` name the user. */
  readonly localUserId?: string;
  /** Its tenants at the issuer and at this service; undefined: none is named. */
  readonly tenants?: readonly string[];
}

/** A prior actor, as the issuer names it. */
export interface PriorActor {
  readonly iss: string;
  readonly sub: string;
}

const MAX_EMAIL_CHARACTERS = 254;
const MAX_ISSUER_CHARACTERS = 512;
/** The limit of one token, and of both tokens of an exchange together, because the access token repeats them all. */
export const MAX_PRIOR_ACTORS = 5;
/** 9999-12-31T23:59:59Z: the latest date that JavaScript and PostgreSQL share. */
const LATEST_NUMERIC_DATE = 253_402_300_799;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** How long after its `iat` a question about a refusal is accepted. */
const MAX_QUESTION_AGE_SECONDS = 60;
const MAX_REQUEST_ID_CHARACTERS = 200;
/** How long after its `iat` a logout token is accepted, if its `exp` is not earlier. */
export const MAX_LOGOUT_AGE_SECONDS = 300;

/**
 * Reads the `iss` claim before any key is known.
 * @throws OAuthRefusal `claims_invalid` if it is missing, empty or not a string (D14)
 */
export function readIssuer(payload: ClaimSet): string {
  return requiredText(payload, 'iss');
}

/** Claims without null values, also inside objects: libraries write null for absent claims. */
export function withoutNulls(claims: ClaimSet): ClaimSet {
  const said = Object.entries(claims).filter(
    // Here null means no (D5).
    ([name, value]) => value !== null || name === 'email_verified',
  );
  return Object.fromEntries(
    said.map(([name, value]) => [name, isJsonObject(value) ? withoutNulls(value) : value]),
  );
}

/**
 * Reads the claims of a token whose signature holds.
 * @param ownIssuer the issuer of the instance's own tokens
 * @param projectsClaim name of the claim of projects, if the entry enables it
 * @rule 5.2.3 = 2.2.1 = 2.2.2 = 2.2.3 = 2.2.4 = 2.2.5 = 2.2.6 Required claims are present, with their types.
 * @throws OAuthRefusal `claims_invalid` or `claims_not_storable`
 */
export function readExternalClaims(
  payload: ClaimSet,
  ownIssuer?: string,
  projectsClaim?: string,
): ExternalClaims {
  refuseUnstorable(payload);
  const claims = {
    iss: requiredText(payload, 'iss'),
    sub: requiredText(payload, 'sub'),
    aud: audience(payload),
    iat: numericDate(payload, 'iat'),
    exp: numericDate(payload, 'exp'),
    jti: requiredText(payload, 'jti'),
    nbf: optionalDate(payload, 'nbf'),
    ...optionalClaims(payload),
    projects: projectsClaim === undefined ? undefined : readProjectsClaim(payload, projectsClaim),
  };
  refuseTooLong(claims);
  refuseOwnActors(claims, ownIssuer);
  return claims;
}

type RolePolicy = Pick<TrustPolicy, 'roleClaim' | 'roleMap'>;

/**
 * The claims of a token with `jti` and `role` under this service's names.
 * @throws OAuthRefusal `claims_invalid` if the role claim has the wrong type
 */
export function withOwnNames(
  jws: Pick<CompactJws, 'payload' | 'signingInput'>,
  policy: RolePolicy & Pick<TrustPolicy, 'uniqueId'>,
): ClaimSet {
  const { uniqueId, roleClaim, roleMap } = policy;
  if (uniqueId === undefined && roleClaim === undefined && roleMap === undefined) return jws.payload;
  return { ...jws.payload, jti: idOf(jws, uniqueId), role: roleOf(jws.payload, policy) };
}

/**
 * The id depends on the token alone: the entry only says what may be missing. So a used token stays used if its entry changes. The
 * signature is not part of the hash, because an ECDSA signature can be changed without becoming invalid.
 * @rule P.uniqueId A token without `jti` is accepted once by its `uti` or its hash, if the entry says so.
 */
function idOf(
  { payload: { jti, uti }, signingInput }: Pick<CompactJws, 'payload' | 'signingInput'>,
  uniqueId: TrustPolicy['uniqueId'] = 'jti',
): unknown {
  if (jti !== undefined || uniqueId === 'jti') return jti;
  if (uti !== undefined || uniqueId === 'uti') return uti;
  return hash('sha256', signingInput, 'base64url');
}

/** @rule P.roleClaim = P.roleMap The entry names the claim of the role, and which role each of its values means. */
export function roleOf(payload: ClaimSet, policy: RolePolicy): string | undefined {
  const { roleClaim = 'role', roleMap } = policy;
  const values = rolesIn(payload, policy);
  if (roleMap === undefined) {
    if (values.length <= 1) return values[0];
    throw invalid(`${printable(roleClaim)} must have one value, since the entry has no roleMap`);
  }
  const claimed = new Set(values);
  return [...roleMap].find(([value]) => claimed.has(value))?.[1];
}

export function rolesIn(
  payload: Readonly<Record<string, unknown>>,
  { roleClaim = 'role' }: RolePolicy,
): readonly string[] {
  const value = payload[roleClaim];
  if (value === undefined) return [];
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.every((one) => typeof one === 'string')) return values;
  throw invalid(`${printable(roleClaim)} must be a string or an array of strings: found ${kindOf(value)}`);
}

/**
 * Reads the claims of a logout token whose signature holds. Its `exp` is the end of the time for which it is taken.
 * D130: a logout token has `iat`, `jti`, the event of a logout and no other, `sub` or `sid`, and no `nonce`.
 * @throws OAuthRefusal `claims_invalid` or `claims_not_storable`
 */
export function readLogoutClaims(payload: ClaimSet): LogoutClaims {
  refuseUnstorable(payload);
  const [sub, sid] = [optionalName(payload, 'sub'), optionalName(payload, 'sid')];
  if (sub === undefined && sid === undefined) throw invalid('sub or sid is required');
  refuseOtherEvents(payload);
  // An ID token has one, and must not pass for a logout token (§2.4).
  if (payload['nonce'] !== undefined) throw invalid('nonce is not allowed');
  return { ...timedClaims(payload, MAX_LOGOUT_AGE_SECONDS), sub, sid };
}

/**
 * Reads the claims of a question about a refusal, whose signature holds. Its `exp` is the end of the time for which it is taken.
 * @throws OAuthRefusal `claims_invalid` or `claims_not_storable`
 */
export function readExplainClaims(payload: ClaimSet): ExplainClaims {
  refuseUnstorable(payload);
  const requestId = requiredText(payload, 'request_id');
  refuseLonger('request_id', requestId, MAX_REQUEST_ID_CHARACTERS);
  return { ...timedClaims(payload, MAX_QUESTION_AGE_SECONDS), requestId };
}

/** @param maxAgeSeconds from `iat` on: the token is taken until then, or until its `exp` if that is earlier */
export function timedClaims(payload: ClaimSet, maxAgeSeconds: number): TimedClaims {
  const iat = numericDate(payload, 'iat');
  const latest = iat + maxAgeSeconds;
  return {
    iss: requiredText(payload, 'iss'),
    aud: audience(payload),
    iat,
    exp: Math.min(optionalDate(payload, 'exp') ?? latest, latest),
    nbf: optionalDate(payload, 'nbf'),
    jti: requiredText(payload, 'jti'),
  };
}

/** Whether an `aud` is one address and nothing else, as a string or as a list of one. */
export function isAloneFor(aud: unknown, address: string | undefined): boolean {
  const [only, ...others] = [aud].flat();
  return typeof only === 'string' && address !== undefined && isSameUri(only, address) && others.length === 0;
}

/** Whether the claims are those of a logout token; the header is not looked at. */
export function hasLogoutEvent({ events }: ClaimSet): boolean {
  return isJsonObject(events) && Object.hasOwn(events, LOGOUT_EVENT);
}

function optionalName(payload: ClaimSet, name: ClaimName): string | undefined {
  return payload[name] === undefined ? undefined : requiredText(payload, name);
}

function refuseOtherEvents({ events }: ClaimSet): void {
  const isLogout =
    isJsonObject(events) && Object.keys(events).length === 1 && isJsonObject(events[LOGOUT_EVENT]);
  if (!isLogout) throw invalid(`events must be an object with the one member ${LOGOUT_EVENT}, an object`);
}

/** @rule 2.2.7 A present optional claim has its type; an e-mail address is valid. */
function optionalClaims(payload: ClaimSet) {
  return {
    email: email(payload),
    emailVerified: isEmailVerified(payload),
    givenName: optionalText(payload, 'given_name'),
    familyName: optionalText(payload, 'family_name'),
    role: optionalText(payload, 'role'),
    sid: optionalText(payload, 'sid'),
    mayAct: mayAct(payload),
    priorActors: priorActors(payload),
  };
}

/** `"False"`, `0` and `null` mean no. Reading them as yes would give an account away. */
function isEmailVerified({ email_verified: isVerified }: ClaimSet): boolean | undefined {
  return isVerified === undefined ? undefined : isVerified === true || isVerified === 'true';
}

/** RFC 8693 §4.4: `sub` names the actor, with `iss` if it differs from the token's. */
function mayAct({ may_act: actor }: ClaimSet): ExternalClaims['mayAct'] {
  if (actor === undefined) return undefined;
  if (!isJsonObject(actor)) throw invalid(`may_act must be an object: found ${kindOf(actor)}`);
  const iss = optionalText(actor, 'iss');
  return { sub: requiredText(actor, 'sub'), iss };
}

/**
 * The chain of nested `act` claims. An actor without `iss` belongs to the token's issuer.
 * @rule P.priorActors A chain has at most five actors, each with `sub`.
 */
function priorActors(payload: ClaimSet): readonly PriorActor[] | undefined {
  const actors: PriorActor[] = [];
  const issuer = requiredText(payload, 'iss');
  for (let { act } = payload; act !== undefined; act = (act as ClaimSet)['act']) {
    if (!isJsonObject(act)) throw invalid(`act must be an object: found ${kindOf(act)}`);
    if (actors.length === MAX_PRIOR_ACTORS) throw invalid(`act has over ${MAX_PRIOR_ACTORS} actors`);
    const iss = act['iss'] === undefined ? issuer : requiredText(act, 'iss');
    actors.push({ iss, sub: requiredText(act, 'sub') });
  }
  return actors.length === 0 ? undefined : actors;
}

/**
 * The access token repeats the chain, and its readers would mistake such an actor for a user of this instance.
 * @rule D126 No partner may name an actor of the instance's own issuer. See entry-reader.ts for entries.
 */
function refuseOwnActors({ priorActors: actors = [] }: ExternalClaims, ownIssuer: string | undefined): void {
  if (ownIssuer !== undefined && actors.some(({ iss }) => mayMean(iss, ownIssuer)))
    throw invalid('act must not name the issuer of this service');
}

function refuseTooLong({
  sub,
  email: address,
  priorActors: actors = [],
}: Pick<ExternalClaims, 'sub' | 'email' | 'priorActors'>): void {
  for (const name of [sub, ...actors.map((actor) => actor.sub)])
    refuseLonger('sub', name, MAX_SUBJECT_CHARACTERS);
  for (const { iss } of actors) refuseLonger('iss of an actor', iss, MAX_ISSUER_CHARACTERS);
  refuseLonger('email', address, MAX_EMAIL_CHARACTERS);
}

/**
 * @rule D42 A string that cannot be stored is refused in every claim.
 * @throws OAuthRefusal `claims_not_storable`
 */
export function refuseLonger(what: string, text: string | undefined, limit: number): void {
  if (text !== undefined && hasMoreCharacters(text, limit))
    throw notStorable(`${what} has over ${limit} characters`);
}

/** Runs before any other check, because some checks cannot handle such strings. */
export function refuseUnstorable(payload: ClaimSet): void {
  if (!hasUnstorableText(payload)) return;
  const [name] = Object.entries(payload).find(([, value]) => hasUnstorableText(value)) ?? [];
  const claim = name === undefined ? 'the name of a claim' : printable(name);
  throw notStorable(`${claim} has NUL or a lone surrogate`);
}

export function requiredText(payload: ClaimSet, name: ClaimName): string {
  const value = payload[name];
  if (typeof value !== 'string' || value === '')
    throw invalid(`${name} must be a non-empty string: found ${kindOf(value)}`);
  return value;
}

export function optionalText(payload: ClaimSet, name: ClaimName): string | undefined {
  const value = payload[name];
  if (value !== undefined && typeof value !== 'string')
    throw invalid(`${name} must be a string: found ${kindOf(value)}`);
  return value;
}

function audience(payload: ClaimSet): string | readonly string[] {
  const { aud } = payload;
  if (typeof aud === 'string' && aud !== '') return aud;
  const isList = Array.isArray(aud) && aud.length > 0 && aud.every((member) => typeof member === 'string');
  if (!isList) throw invalid(`aud must be a string or an array of strings: found ${kindOf(aud)}`);
  return aud;
}

/** A time is a finite number, also a fraction, from 0 to the end of the year 9999 (D10). */
function numericDate(payload: ClaimSet, name: ClaimName): number {
  const value = payload[name];
  // NaN and infinities fail both comparisons.
  if (typeof value === 'number' && value >= 0 && value <= LATEST_NUMERIC_DATE) return value;
  throw invalid(`${name} must be a number from 0 to ${LATEST_NUMERIC_DATE}: found ${kindOfDate(value)}`);
}

function optionalDate(payload: ClaimSet, name: ClaimName): number | undefined {
  return payload[name] === undefined ? undefined : numericDate(payload, name);
}

/** The most common error is a time in milliseconds. */
function kindOfDate(value: unknown): string {
  if (typeof value !== 'number') return kindOf(value);
  if (value < 0) return 'a negative number';
  if (value >= 1e21) return 'a number of over 21 digits';
  const digits = String(Math.trunc(value)).length;
  return `a number of ${digits} digits${digits === 13 ? ': milliseconds?' : ''}`;
}

function email(payload: ClaimSet): string | undefined {
  const address = optionalText(payload, 'email');
  // A too long address is refused later, with its own reason.
  const isFault = address === undefined || hasMoreCharacters(address, MAX_EMAIL_CHARACTERS);
  if (isFault || isEmailAddress(address)) return address;
  throw invalid('email must be an e-mail address');
}

function invalid(detail: string): OAuthRefusal {
  return new OAuthRefusal('claims_invalid', { detail });
}

function notStorable(detail: string): OAuthRefusal {
  return new OAuthRefusal('claims_not_storable', { detail });
}
