// The checks of whom a token is for.
import { printable, printableList } from '../../platform/text/printable.js';
import { isAloneFor } from './external-claims.js';
import type { AnyToken, TokenCheck } from './token-check.js';

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

/** The entry's, or what any authorization server is called by its clients. */
function grantAudiences({ key, rules: { ownIssuer, tokenEndpoint } }: AnyToken): string[] {
  const { expectedAudience } = key.policy;
  const names = expectedAudience === undefined ? [ownIssuer, tokenEndpoint] : [expectedAudience];
  return names.filter((name) => name !== undefined);
}
