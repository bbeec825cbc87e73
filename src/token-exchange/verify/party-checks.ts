// The checks of whose a token is, for whom, and of what an identity assertion says beside.
import {
  kindOf,
  printable,
  printableAddress,
  printableList,
  visible,
} from '../../platform/text/printable.js';
import { matchesSubject } from '../trust/workload-policy.js';
import type { ClaimValue } from '../trust/workload-policy.js';
import { grantsNothing, isOfTenants, readAssertionClaims, unsupportedClaims } from './assertion-claims.js';
import { isAloneFor, MAX_SUBJECT_CHARACTERS } from './external-claims.js';
import type { AnyToken, Compared, TokenCheck } from './token-check.js';
import { firstCharacters } from '../../platform/text/characters.js';
import { isEmailAddress } from '../../platform/text/email-address.js';

/** @rule P.subjects = P.claims Where an entry says whose its tokens are, others are refused, on every way in that gives access. */
export const OF_WHOSE_IT_IS: readonly TokenCheck[] = [
  {
    about: 'subjects',
    reason: 'subject_not_allowed',
    fails: ({ claims, key: { policy } }) =>
      policy.subjects !== undefined && !matchesSubject(policy.subjects, claims.sub),
    compared: ({ claims, key: { policy } }) => [
      policy.subjects === undefined ? 'any' : shownPatterns(policy.subjects),
      policy.signInAs === undefined ? 'the sub of a person' : shownSubject(claims.sub),
    ],
  },
  {
    about: 'claims',
    reason: 'claim_not_allowed',
    fails: (token) => otherClaim(token) !== undefined,
    compared: (token) => comparedClaims(token, otherClaim(token)),
  },
];

/** @rule 5.2.4 = 2.1.expectedAudience The audience is compared only where the entry expects one. */
export const EXPECTED_AUDIENCE: TokenCheck<AnyToken> = {
  about: 'aud',
  reason: 'audience_mismatch',
  fails: (token) => {
    const { aud } = token.claims;
    const expected = expectedAudiences(token);
    const isExpected = (name: string) => (typeof aud === 'string' ? aud === name : aud.includes(name));
    return expected.length > 0 && !expected.some(isExpected);
  },
  compared: (token) => {
    const expected = expectedAudiences(token);
    return [
      printableList(expected.length === 0 ? ['any'] : expected),
      printableList([token.claims.aud].flat()),
    ];
  },
};

/** An identity assertion is for the issuer of this instance alone; its entry's audience is for other tokens. */
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
export const GRANT_AUDIENCE: TokenCheck = {
  about: 'aud',
  reason: 'audience_mismatch',
  fails: (token) => {
    const expected = grantAudiences(token);
    return ![token.claims.aud].flat().every((name) => expected.includes(name));
  },
  compared: (token) => [
    `${printableList(grantAudiences(token))} and no other`,
    printableList([token.claims.aud].flat()),
  ],
};

/** @rule D133 An identity assertion is taken from the client that it names, which its entry names too, and for what it says. */
export const OF_AN_ASSERTION: readonly TokenCheck[] = [
  {
    about: 'claims that limit it',
    reason: 'assertion_not_supported',
    fails: ({ jws }) => unsupportedClaims(jws.payload).length > 0,
    compared: ({ jws }) => ['none of them', printableList(unsupportedClaims(jws.payload))],
  },
  {
    about: 'client_id, scope, resource, aud_sub, sub_id, tenant, aud_tenant',
    // Or `claims_not_storable`.
    reason: 'claims_invalid',
    isNeeded: true,
    read: (token) => void (token.assertion = readAssertionClaims(token.jws.payload)),
    compared: () => ['client_id, and the others where they are there, each of its type', 'all of them'],
  },
  {
    about: 'tenant, aud_tenant',
    reason: 'tenant_not_allowed',
    fails: ({ assertion, key }) => assertion === undefined || !isOfTenants(assertion, key.policy),
    compared: ({ assertion, key: { policy } }) => [
      printableList(policy.tenants ?? []),
      printableList(assertion?.tenants ?? []),
    ],
  },
  {
    about: 'scope, resource',
    reason: 'assertion_grants_nothing',
    fails: ({ assertion, key: { policy }, rules }) =>
      assertion === undefined || grantsNothing(assertion, policy, rules.ownIssuer),
    compared: ({ assertion, key: { policy }, rules: { ownIssuer = '' } }) => [
      printableList([...(policy.scopes ?? []), ownIssuer, ...(policy.resources ?? [])]),
      printableList([assertion?.scope ?? [], assertion?.resource ?? []].flat().map(printableAddress)),
    ],
  },
  {
    about: 'client_id',
    reason: 'client_not_allowed',
    fails: ({ assertion, client }) => client === undefined || assertion?.clientId !== client.id,
    compared: ({ assertion, client }) => [
      `the client that has authenticated: ${printable(client?.id)}`,
      printable(assertion?.clientId),
    ],
  },
  {
    about: 'clients',
    reason: 'client_not_allowed',
    fails: ({ key: { policy }, client }) =>
      client === undefined || policy.clients?.has(client.id) !== true || !client.issuers.has(policy.issuer),
    compared: ({ key: { policy }, client }) => [
      printableList(policy.clients?.keys() ?? []),
      printable(client?.id),
    ],
  },
];

/** @rule P.logoutAudience A logout token may have the audience of its own that the entry names. */
function expectedAudiences({ key: { policy }, flow }: AnyToken): string[] {
  const { expectedAudience, logoutAudience } = policy;
  const names = flow === 'logout' ? [expectedAudience, logoutAudience] : [expectedAudience];
  return names.filter((name) => name !== undefined);
}

/** The first claim that is not as the entry says: another value of a text, say, or a number in its place. */
function otherClaim({
  jws: { payload },
  key: { policy },
}: AnyToken): readonly [string, ClaimValue] | undefined {
  const values: Readonly<Record<string, unknown>> = payload;
  return [...(policy.claims ?? [])].find(
    ([name, value]) => !Object.hasOwn(values, name) || values[name] !== value,
  );
}

function comparedClaims(
  { jws: { payload }, key: { policy } }: AnyToken,
  other: readonly [string, ClaimValue] | undefined,
): Compared {
  if (other === undefined)
    return [policy.claims === undefined ? 'any' : printableList(policy.claims.keys()), 'as it says'];
  const [name, value] = other;
  const found = (payload as Readonly<Record<string, unknown>>)[name];
  const isShown = policy.signInAs !== undefined && typeof found === typeof value;
  return [`${printable(name)} ${shownClaim(value)}`, isShown ? shownClaim(found) : kindOf(found)];
}

function shownClaim(value: unknown): string {
  return typeof value === 'string' ? printable(value) : String(value);
}

/** The entry's, or what any authorization server is called by its clients. */
function grantAudiences({ key, rules: { ownIssuer, tokenEndpoint } }: AnyToken): string[] {
  const { expectedAudience } = key.policy;
  const names = expectedAudience === undefined ? [ownIssuer, tokenEndpoint] : [expectedAudience];
  return names.filter((name) => name !== undefined);
}

/** Of the patterns of an entry. */
const MOST_SHOWN = 3;

/** `printable` would take the ids in a `sub` of GitHub for an e-mail address. */
export function shownSubject(sub: string): string {
  const shown = firstCharacters(sub, MAX_SUBJECT_CHARACTERS);
  return shown.split(/[:/,;\s]/).some(isEmailAddress) ? printable(shown) : visible(shown);
}

export function shownPatterns(patterns: ReadonlySet<string>): string {
  const shown = [...patterns].slice(0, MOST_SHOWN).map(shownSubject).join(', ');
  return patterns.size > MOST_SHOWN ? `${shown} and ${patterns.size - MOST_SHOWN} more` : shown;
}
