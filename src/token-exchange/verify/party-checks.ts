// The checks of whose a token is, and for whom.
import { kindOf, printable, printableList } from '../../platform/text/printable.js';
import { matchesSubject } from '../trust/subject-patterns.js';
import type { ClaimValue } from '../trust/workload-policy.js';
import { isAloneFor } from './external-claims.js';
import type { AnyToken, Compared, TokenCheck } from './token-check.js';
import { shownPatterns, shownSubject } from './shown-subject.js';

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
