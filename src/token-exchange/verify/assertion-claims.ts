// Reads what an identity assertion (ID-JAG) says beside the claims of every external token.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../platform/json/strict-json.js';
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { isSameAddress } from '../../platform/text/origin.js';
import { FIELD_LIMITS } from './compact-jws.js';
import { Rejection } from '../refusals/rejection.js';
import type { ClaimSet } from '../trust/claim-names.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import { optionalText, requiredText } from './external-claims.js';

/** The `typ` of an identity assertion, which no other token has (draft-ietf-oauth-identity-assertion-authz-grant §3). */
export const ID_JAG_TYPE = 'oauth-id-jag+jwt';

export interface AssertionClaims {
  readonly clientId: string;
  /** What its issuer grants, with spaces between; undefined: the issuer limits nothing. */
  readonly scope?: string;
  /** The services that it is for; undefined: the issuer names none. */
  readonly resource?: readonly string[];
  /** The id of the local user whom its issuer means; undefined: it says no more than `iss` and `sub`. */
  readonly localUserId?: string;
  /** The tenants of its issuer and of this service that it is of; undefined: it names none. */
  readonly tenants?: readonly string[];
}

/** Rich authorization (RFC 9396) narrows an assertion in a way that is not enforced here: to take it would be to widen it. */
export function unsupportedClaims(payload: ClaimSet): readonly string[] {
  const { sub_id: subjectId, authorization_details: details } = payload;
  const isOtherFormat =
    subjectId !== undefined && !(isJsonObject(subjectId) && subjectId['format'] === 'iss_sub');
  return [
    ...(details === undefined ? [] : ['authorization_details']),
    ...(isOtherFormat ? ['sub_id of another format than iss_sub'] : []),
  ];
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
  refuseOtherSubject(payload);
  return {
    clientId,
    scope,
    resource,
    localUserId: optionalText(payload, 'aud_sub'),
    tenants: tenantsOf(payload),
  };
}

function tenantsOf(payload: ClaimSet): readonly string[] | undefined {
  const named = [optionalText(payload, 'tenant'), optionalText(payload, 'aud_tenant')];
  const tenants = named.filter((tenant) => tenant !== undefined);
  return tenants.length === 0 ? undefined : tenants;
}

/**
 * An issuer with several tenants may have one `sub` in each.
 * @rule P.tenants Where an entry lists tenants, an assertion names one and only listed ones; else none.
 */
export function isOfTenants(
  { tenants }: AssertionClaims,
  { tenants: listed }: Pick<TrustPolicy, 'tenants'>,
): boolean {
  if (tenants === undefined || listed === undefined) return tenants === listed;
  return tenants.every((tenant) => listed.has(tenant));
}

/**
 * Whether an assertion names scopes, or services, none of which its entry lists: it was meant for something else, and must not be
 * turned into what the client asks for (Enterprise-Managed Authorization §7.6.2).
 * @param host for which every assertion is good that names it
 */
export function grantsNothing(
  { scope, resource }: AssertionClaims,
  { scopes, resources }: Pick<TrustPolicy, 'scopes' | 'resources'>,
  host: string | undefined,
): boolean {
  const isHost = (uri: string) => host !== undefined && isSameAddress(uri, host);
  const hasScope = scope === undefined || scope.split(' ').some((one) => scopes?.has(one) !== false);
  return !hasScope || resource?.some((uri) => isHost(uri) || resources?.has(uri) === true) === false;
}

/** A subject identifier has the members of its format and no others (RFC 9493 §3). */
function refuseOtherSubject({ sub_id: subjectId, iss, sub }: ClaimSet): void {
  if (subjectId === undefined || isDeepStrictEqual(subjectId, { format: 'iss_sub', iss, sub })) return;
  throw new Rejection('claims_invalid', { detail: 'sub_id must say what iss and sub say' });
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
