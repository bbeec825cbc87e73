// Reads what an identity assertion (ID-JAG) says beside the claims of every external token.
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { FIELD_LIMITS } from './field-limits.js';
import { Rejection } from '../refusals/rejection.js';
import type { ClaimName, ClaimSet } from '../trust/claim-names.js';
import { optionalText, requiredText } from './external-claims.js';

/** The `typ` of an identity assertion, which no other token has (draft-ietf-oauth-identity-assertion-authz-grant §3). */
export const ID_JAG_TYPE = 'oauth-id-jag+jwt';

export interface AssertionClaims {
  readonly clientId: string;
  /** What its issuer grants, with spaces between; undefined: the issuer limits nothing. */
  readonly scope?: string;
  /** The services that it is for; undefined: the issuer names none. */
  readonly resource?: readonly string[];
}

/**
 * Rich authorization (RFC 9396) and tenants narrow an assertion in a way that is not enforced here: to take it would be to widen it.
 * `aud_sub` and `sub_id` (RFC 9493) may mean another user than `iss` and `sub` do here.
 */
export const UNSUPPORTED_CLAIMS: readonly ClaimName[] = [
  'authorization_details',
  'tenant',
  'aud_tenant',
  'aud_sub',
  'sub_id',
];

/** The names of claims of which the assertion would have to be refused. */
export function unsupportedClaims(payload: ClaimSet): readonly string[] {
  return UNSUPPORTED_CLAIMS.filter((name) => payload[name] !== undefined);
}

/** @throws Rejection `claims_invalid` or `claims_not_storable` */
export function readAssertionClaims(payload: ClaimSet): AssertionClaims {
  const clientId = requiredText(payload, 'client_id');
  const scope = optionalText(payload, 'scope');
  // RFC 6749 §3.3 knows no empty scope, and its issuer may mean "nothing".
  if (scope === '') throw new Rejection('claims_invalid', { detail: 'scope must not be empty' });
  const resource = resources(payload);
  refuseLongerThan(FIELD_LIMITS.scope, 'scope', scope);
  refuseLongerThan(FIELD_LIMITS.resource, 'resource', resource?.join(' '));
  return { clientId, scope, resource };
}

/** One URI, or a list of them (RFC 8707 §2). */
function resources({ resource }: ClaimSet): readonly string[] | undefined {
  if (resource === undefined) return undefined;
  const list: unknown[] = Array.isArray(resource) ? resource : [resource];
  const isGood = list.length > 0 && list.every((uri) => typeof uri === 'string' && /^\S+$/.test(uri));
  if (!isGood) throw new Rejection('claims_invalid', { detail: 'resource must be a URI or a list of URIs' });
  return list as string[];
}

/** The access token and the trail repeat it. */
function refuseLongerThan(limit: number, claim: string, text = ''): void {
  if (!hasMoreCharacters(text, limit)) return;
  throw new Rejection('claims_not_storable', { detail: `${claim} has over ${limit} characters` });
}
