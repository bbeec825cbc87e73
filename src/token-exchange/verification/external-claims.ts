// Judges the claims of a correctly signed external token by themselves: presence, types, ranges.
import { isEmail } from 'class-validator';
import { Rejection } from '../rejection.js';
import { hasUnstorableText, isJsonObject } from '../../strict-json.js';

/** The claims that this service reads (2.2), with the names of the claim set. */
export interface ExternalClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly nbf?: number;
  readonly email?: string;
  /** False only where the issuer says so explicitly (D5). */
  readonly emailVerified: boolean;
  readonly givenName?: string;
  readonly familyName?: string;
  readonly role?: string;
}

const MAX_SUBJECT_CHARACTERS = 255;
const MAX_EMAIL_CHARACTERS = 254;
/** 9999-12-31T23:59:59Z: what dates and databases hold. */
const LATEST_NUMERIC_DATE = 253_402_300_799;

/**
 * Reads the `iss` claim before any key is known.
 * @throws Rejection `claims_invalid` when it is missing, empty or not a string (D15)
 */
export function readIssuer(payload: unknown): string {
  if (!isJsonObject(payload)) throw invalid('the payload is not an object');
  return requiredText(payload, 'iss');
}

/**
 * Reads the claims of a token whose signature holds.
 * @rule 5.2.3 Required claims are there, with their types.
 * @throws Rejection `claims_invalid` or `claims_not_storable`
 */
export function readExternalClaims(payload: unknown): ExternalClaims {
  if (!isJsonObject(payload)) throw invalid('the payload is not an object');
  const claims = {
    iss: requiredText(payload, 'iss'),
    sub: requiredText(payload, 'sub'),
    aud: audience(payload),
    iat: numericDate(payload, 'iat'),
    exp: numericDate(payload, 'exp'),
    jti: requiredText(payload, 'jti'),
    ...(payload['nbf'] === undefined ? {} : { nbf: numericDate(payload, 'nbf') }),
    ...optionalClaims(payload),
  };
  refuseUnstorable(payload, claims);
  return claims;
}

/** @rule 2.2.7 An optional claim has its type where it is there; an e-mail is a valid one. */
function optionalClaims(payload: Record<string, unknown>) {
  return {
    email: email(payload),
    // Anything but an explicit false counts as the specification says; see D5.
    emailVerified: payload['email_verified'] !== false && payload['email_verified'] !== 'false',
    givenName: optionalText(payload, 'given_name'),
    familyName: optionalText(payload, 'family_name'),
    role: optionalText(payload, 'role'),
  };
}

/** @rule D42 Strings that storage cannot hold are refused, whichever claim they stand in. */
function refuseUnstorable(
  payload: Record<string, unknown>,
  { sub, email: address }: { sub: string; email?: string },
) {
  if (hasUnstorableText(payload)) throw notStorable('a claim has NUL or a lone surrogate');
  if (characters(sub) > MAX_SUBJECT_CHARACTERS)
    throw notStorable(`sub has over ${MAX_SUBJECT_CHARACTERS} characters`);
  if (address !== undefined && characters(address) > MAX_EMAIL_CHARACTERS) {
    throw notStorable(`email has over ${MAX_EMAIL_CHARACTERS} characters`);
  }
}

function requiredText(payload: Record<string, unknown>, name: string): string {
  const value = payload[name];
  if (typeof value !== 'string' || value === '') throw invalid(`${name} must be a non-empty string`);
  return value;
}

function optionalText(payload: Record<string, unknown>, name: string): string | undefined {
  const value = payload[name];
  if (value !== undefined && typeof value !== 'string') throw invalid(`${name} must be a string`);
  return value;
}

function audience(payload: Record<string, unknown>): string | readonly string[] {
  const { aud } = payload;
  if (typeof aud === 'string' && aud !== '') return aud;
  const isList = Array.isArray(aud) && aud.length > 0 && aud.every((member) => typeof member === 'string');
  if (!isList) throw invalid('aud must be a string or an array of strings');
  return aud;
}

/** @rule D12 Times are finite numbers, fractions allowed, neither negative nor after the year 9999. */
function numericDate(payload: Record<string, unknown>, name: string): number {
  const value = payload[name];
  // NaN and infinities fail both comparisons.
  if (typeof value === 'number' && value >= 0 && value <= LATEST_NUMERIC_DATE) return value;
  throw invalid(`${name} must be a number from 0 to ${LATEST_NUMERIC_DATE}`);
}

function email(payload: Record<string, unknown>): string | undefined {
  const address = optionalText(payload, 'email');
  if (address === undefined || characters(address) > MAX_EMAIL_CHARACTERS || isEmail(address)) return address;
  throw invalid('email must be an e-mail address');
}

function characters(text: string): number {
  return [...text].length;
}

function invalid(detail: string): Rejection {
  return new Rejection('claims_invalid', { detail });
}

function notStorable(detail: string): Rejection {
  return new Rejection('claims_not_storable', { detail });
}
