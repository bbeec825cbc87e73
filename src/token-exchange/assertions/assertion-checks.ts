// The additional checks of an assertion (RFC 7523): an identity assertion (ID-JAG) or an ordinary JWT, and the reader of an identity
// assertion's claims.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../platform/json/strict-json.js';
import { printable, printableAddress, printableList } from '../../platform/text/printable.js';
import { isSameUri, spellingIn } from '../../platform/text/uri.js';
import { isTokenRefusal, OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { ClaimSet } from '../trust/claim-names.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import type { AnyToken, TokenCheck } from '../verify/check-runner.js';
import { FIELD_LIMITS, parseCompactJws, typeOf } from '../verify/compact-jws.js';
import type { AssertionClaims } from '../verify/external-claims.js';
import { isAloneFor, optionalText, refuseLonger, requiredText } from '../verify/external-claims.js';
import { audiencesOf, lifetimeUpTo, purpose } from '../verify/token-checks.js';

/** The `typ` of an identity assertion, which no other token has (draft-ietf-oauth-identity-assertion-authz-grant §3). */
const ID_JAG_TYPE = 'oauth-id-jag+jwt';

/** An identity assertion has its own `typ`. */
export const ASSERTION_PURPOSE = purpose(ID_JAG_TYPE, (typ) => typ === ID_JAG_TYPE);

/** RFC 7523 assertions have no type of their own. Types of other JWTs are refused. */
export const GRANT_PURPOSE = purpose('JWT, or no typ', (typ = 'jwt') => typ === 'jwt');

/** Whether a string is a JWT with the `typ` of an identity assertion. Nothing else is checked. */
export function isIdJag(text: string): boolean {
  try {
    return typeOf(parseCompactJws(text)) === ID_JAG_TYPE;
  } catch (error) {
    if (isTokenRefusal(error)) return false;
    throw error;
  }
}

/** The audience of an identity assertion is this instance's issuer alone. The entry's audience is for other tokens. */
export const OWN_AUDIENCE: TokenCheck = {
  about: 'aud',
  reason: 'audience_mismatch',
  fails: ({ claims: { aud }, rules: { ownIssuer } }) => !isAloneFor(aud, ownIssuer),
  compared: ({ claims: { aud }, rules }) => [
    `${printable(rules.ownIssuer)} alone`,
    printableList([aud].flat()),
  ],
};

/** Every audience of an assertion must mean this instance (RFC 7523 §3, draft-ietf-oauth-rfc7523bis). */
export const GRANT_AUDIENCE: TokenCheck<AnyToken> = {
  about: 'aud',
  reason: 'audience_mismatch',
  fails: (token) => {
    const expected = grantAudiences(token);
    return !audiencesOf(token).every((name) => expected.some((one) => isSameUri(one, name)));
  },
  compared: (token) => [
    `${printableList(grantAudiences(token))} and no other`,
    printableList(audiencesOf(token)),
  ],
};

export const ASSERTION_LIFETIME = lifetimeUpTo(({ rules }) => rules.maxAssertionLifetimeSeconds);

export const SUPPORTED_CLAIMS: TokenCheck = {
  about: 'claims that limit it',
  reason: 'assertion_not_supported',
  fails: ({ jws }) => unsupportedClaims(jws.payload).length > 0,
  compared: ({ jws }) => ['none of them', printableList(unsupportedClaims(jws.payload))],
};

export const ASSERTION_CLAIMS: TokenCheck = {
  about: 'client_id, scope, resource, aud_sub, sub_id, tenant, aud_tenant',
  // Or `claims_not_storable`.
  reason: 'claims_invalid',
  isNeeded: true,
  read: (token) => void (token.assertion = readAssertionClaims(token.jws.payload)),
  compared: () => ['client_id, and the others where they are there, each of its type', 'all of them'],
};

export const ALLOWED_TENANT: TokenCheck = {
  about: 'tenant, aud_tenant',
  reason: 'tenant_not_allowed',
  fails: ({ assertion, key }) => assertion === undefined || !isOfTenants(assertion, key.policy),
  compared: ({ assertion, key: { policy } }) => [
    printableList(policy.tenants ?? []),
    printableList(assertion?.tenants ?? []),
  ],
};

export const ASSERTED_GRANTS: TokenCheck = {
  about: 'scope, resource',
  reason: 'assertion_grants_nothing',
  fails: ({ assertion, key: { policy }, rules }) =>
    assertion === undefined || grantsNothing(assertion, policy, rules.ownIssuer),
  compared: ({ assertion, key: { policy }, rules: { ownIssuer = '' } }) => [
    printableList([...(policy.scopes ?? []), ownIssuer, ...(policy.resources ?? [])]),
    printableList([assertion?.scope ?? [], assertion?.resource ?? []].flat().map(printableAddress)),
  ],
};

/** @rule D133 An identity assertion is accepted only from the client that it names and that its entry names too. */
export const NAMED_CLIENT: TokenCheck = {
  about: 'client_id',
  reason: 'client_not_allowed',
  fails: ({ assertion, client }) => client === undefined || assertion?.clientId !== client.id,
  compared: ({ assertion, client }) => [
    `the client that has authenticated: ${printable(client?.id)}`,
    printable(assertion?.clientId),
  ],
};

export const CLIENT_OF_ENTRY: TokenCheck = {
  about: 'clients',
  reason: 'client_not_allowed',
  fails: ({ key: { policy }, client }) =>
    client === undefined || policy.clients?.has(client.id) !== true || !client.issuers.has(policy.issuer),
  compared: ({ key: { policy }, client }) => [
    printableList(policy.clients?.keys() ?? []),
    printable(client?.id),
  ],
};

/** The entry's expected audience, or the names of an authorization server for its clients. */
function grantAudiences({ key, rules: { ownIssuer, tokenEndpoint } }: AnyToken): string[] {
  const { expectedAudience } = key.policy;
  const names = expectedAudience === undefined ? [ownIssuer, tokenEndpoint] : [expectedAudience];
  return names.filter((name) => name !== undefined);
}

/** Rich authorization requests (RFC 9396) restrict an assertion in a way that is not enforced here, so it is refused. */
function unsupportedClaims(payload: ClaimSet): readonly string[] {
  const { sub_id: subjectId, authorization_details: details } = payload;
  const isOtherFormat =
    subjectId !== undefined && !(isJsonObject(subjectId) && subjectId['format'] === 'iss_sub');
  return [
    ...(details === undefined ? [] : ['authorization_details']),
    ...(isOtherFormat ? ['sub_id of another format than iss_sub'] : []),
  ];
}

/** @throws OAuthRefusal `claims_invalid` or `claims_not_storable` */
function readAssertionClaims(payload: ClaimSet): AssertionClaims {
  const clientId = requiredText(payload, 'client_id');
  const scope = optionalText(payload, 'scope');
  // RFC 6749 §3.3 has no empty scope, and the issuer may mean "nothing".
  if (scope === '') throw new OAuthRefusal('claims_invalid', { detail: 'scope must not be empty' });
  const resource = resources(payload);
  // The access token and the trail repeat both.
  refuseLonger('scope', scope, FIELD_LIMITS.scope);
  refuseLonger('resource', resource?.join(' '), FIELD_LIMITS.resource);
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
 * An issuer may use one `sub` in several tenants.
 * @rule P.tenants If an entry lists tenants, an assertion names at least one and only listed ones, otherwise none.
 */
function isOfTenants(
  { tenants }: AssertionClaims,
  { tenants: listed }: Pick<TrustPolicy, 'tenants'>,
): boolean {
  if (tenants === undefined || listed === undefined) return tenants === listed;
  return tenants.every((tenant) => listed.has(tenant));
}

/**
 * Whether the entry lists none of the assertion's scopes or services. Such an assertion must not become what the client requests
 * (Enterprise-Managed Authorization §7.6.2).
 * @param host the host itself, which every assertion may name
 */
function grantsNothing(
  { scope, resource }: AssertionClaims,
  { scopes, resources }: Pick<TrustPolicy, 'scopes' | 'resources'>,
  host: string | undefined,
): boolean {
  const isHost = (uri: string) => host !== undefined && isSameUri(uri, host);
  const isListed = (uri: string) => resources !== undefined && spellingIn(resources, uri) !== undefined;
  const hasScope = scope === undefined || scope.split(' ').some((one) => scopes?.has(one) !== false);
  return !hasScope || resource?.some((uri) => isHost(uri) || isListed(uri)) === false;
}

/** A subject identifier has only the properties of its format (RFC 9493 §3). */
function refuseOtherSubject({ sub_id: subjectId, iss, sub }: ClaimSet): void {
  if (subjectId === undefined || isDeepStrictEqual(subjectId, { format: 'iss_sub', iss, sub })) return;
  throw new OAuthRefusal('claims_invalid', { detail: 'sub_id must say what iss and sub say' });
}

/** One URI, or a list of them (RFC 8707 §2). */
function resources({ resource }: ClaimSet): readonly string[] | undefined {
  if (resource === undefined) return undefined;
  const list: unknown[] = Array.isArray(resource) ? resource : [resource];
  const isGood = list.length > 0 && list.every((uri) => typeof uri === 'string' && /^\S+$/.test(uri));
  if (!isGood)
    throw new OAuthRefusal('claims_invalid', { detail: 'resource must be a URI or a list of URIs' });
  return list as string[];
}
