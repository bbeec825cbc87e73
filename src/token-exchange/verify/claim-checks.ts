// The checks of a token's claims. flow-checks.ts has their order.
import { isJsonObject } from '../../platform/json/strict-json.js';
import { printableList, printableSeconds } from '../../platform/text/printable.js';
import { isSameUri } from '../../platform/text/uri.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import {
  comparedClaims,
  matchesSubject,
  otherClaim,
  shownPatterns,
  shownSubject,
} from '../workloads/workload-policy.js';
import type { LogoutClaims, TimedClaims } from './external-claims.js';
import { hasLogoutEvent, readExternalClaims, readLogoutClaims } from './external-claims.js';
import { endOf } from './key-checks.js';
import { withOwnNames } from './provider-claims.js';
import type { AnyToken, CheckedToken, TokenCheck } from './check-runner.js';
import { refusalBy } from './check-runner.js';

/** The limit from `iat` to `exp` of a token for embedded login (5.2.7). */
const MAX_EMBED_LIFETIME_SECONDS = 60;

export type LogoutToken = CheckedToken<LogoutClaims>;

export const LOGOUT_CLAIMS: TokenCheck<LogoutToken> = {
  about: 'its claims',
  // Or `claims_not_storable`.
  reason: 'claims_invalid',
  isNeeded: true,
  read: (token) => void (token.claims = readLogoutClaims(token.jws.payload)),
  compared: () => ['iss, aud, iat, jti, events, sub or sid, and no nonce', 'all of them'],
};

export const EXTERNAL_CLAIMS: TokenCheck = {
  about: 'its claims',
  // Or `claims_not_storable`.
  reason: 'claims_invalid',
  isNeeded: true,
  read: (token) => {
    const { jws, rules, key } = token;
    const { policy } = key;
    const payload = withOwnNames(jws, policy);
    token.claims = readExternalClaims(payload, rules.ownIssuer, policy.projects?.claim);
    return undefined;
  },
  compared: () => ['iss, sub, aud, iat, exp and jti, each of its type', 'all of them'],
};

/** Without this check, a logout token without its own `typ` would sign its user in. */
export const NO_LOGOUT: TokenCheck<AnyToken> = {
  check: 'claims',
  about: 'events',
  reason: 'token_type_not_allowed',
  fails: ({ jws }) => hasLogoutEvent(jws.payload),
  compared: ({ jws }) => [
    'no event of a logout',
    hasLogoutEvent(jws.payload) ? 'a logout token' : 'no logout token',
  ],
};

/** Only `jkt` alone is supported. See verification.ts for the proof. */
export const DPOP_CONFIRMATION: TokenCheck = {
  about: 'cnf',
  reason: 'confirmation_not_supported',
  read: (token) => void (token.boundTo = thumbprintIn(token.jws.payload['cnf'])),
  fails: ({ jws: { payload }, boundTo }) => payload['cnf'] !== undefined && boundTo === undefined,
  compared: ({ jws: { payload } }) => ['no cnf, or one with jkt alone', confirmationOf(payload['cnf'])],
};

/** @rule P.subjects = P.claims If an entry lists subjects or claims, other tokens are refused in every flow that gives access. */
export const ALLOWED_SUBJECT: TokenCheck = {
  about: 'subjects',
  reason: 'subject_not_allowed',
  fails: ({ claims, key: { policy } }) =>
    policy.subjects !== undefined && !matchesSubject(policy.subjects, claims.sub),
  compared: ({ claims, key: { policy } }) => [
    policy.subjects === undefined ? 'any' : shownPatterns(policy.subjects),
    policy.signInAs === undefined ? 'the sub of a person' : shownSubject(claims.sub),
  ],
};

export const ALLOWED_CLAIMS: TokenCheck = {
  about: 'claims',
  reason: 'claim_not_allowed',
  fails: ({ jws, key: { policy } }) =>
    policy.claims !== undefined && otherClaim(policy.claims, jws.payload) !== undefined,
  compared: ({ jws, key: { policy } }) => comparedClaims(policy, jws.payload),
};

const oneAudienceOf = (
  expectedIn: (policy: TrustPolicy) => readonly (string | undefined)[],
): TokenCheck<AnyToken> => {
  const expectedBy = ({ key }: AnyToken) => expectedIn(key.policy).filter((name) => name !== undefined);
  return {
    about: 'aud',
    reason: 'audience_mismatch',
    fails: (token) => {
      const expected = expectedBy(token);
      return expected.length > 0 && !audiencesOf(token).some((name) => expected.includes(name));
    },
    compared: (token) => {
      const expected = expectedBy(token);
      return [printableList(expected.length === 0 ? ['any'] : expected), printableList(audiencesOf(token))];
    },
  };
};

/** @rule 5.2.4 = 2.1.expectedAudience The audience is compared only if the entry expects one. */
export const EXPECTED_AUDIENCE = oneAudienceOf(({ expectedAudience }) => [expectedAudience]);

/** @rule P.logoutAudience A logout token may have the entry's `logoutAudience`. */
export const LOGOUT_AUDIENCE = oneAudienceOf(({ expectedAudience, logoutAudience }) => [
  expectedAudience,
  logoutAudience,
]);

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

/**
 * @rule 5.2.6 Expired tokens are rejected.
 * @rule D10 The tolerance is for `nbf` and a future `iat` only; at `exp` a token is expired.
 */
export const NOT_EXPIRED: TokenCheck<AnyToken> = {
  about: 'exp',
  reason: 'token_expired',
  fails: ({ claims, now }) => claims.exp <= now,
  compared: ({ claims, now }) => ['exp in the future', expiryOf(claims, now)],
};

/** @rule 2.2.11 A token is refused before its nbf. */
export const NOT_BEFORE: TokenCheck<AnyToken> = {
  about: 'nbf',
  reason: 'token_not_yet_valid',
  fails: ({ claims: { nbf = 0 }, now, rules }) => nbf > now + rules.toleranceSeconds,
  compared: ({ claims: { nbf = 0 }, now, rules }) => [
    `nbf at most ${rules.toleranceSeconds} s ahead`,
    nbf > now ? `not valid for ${printableSeconds(nbf - now)} yet` : 'valid already',
  ],
};

/** A token from the future is refused (D10). */
export const NOT_FROM_FUTURE: TokenCheck<AnyToken> = {
  about: 'iat',
  reason: 'token_issued_in_future',
  fails: ({ claims: { iat }, now, rules }) => iat > now + rules.toleranceSeconds,
  compared: ({ claims: { iat }, now, rules }) => [
    `iat at most ${rules.toleranceSeconds} s ahead`,
    `issued ${printableSeconds(Math.abs(iat - now))} ${iat > now ? 'ahead' : 'ago'}`,
  ],
};

const lifetimeUpTo = (limitOf: (token: CheckedToken) => number): TokenCheck => ({
  about: 'exp - iat',
  reason: 'token_lifetime_exceeded',
  fails: (token) => token.claims.exp - token.claims.iat > limitOf(token),
  compared: (token) => [
    `${limitOf(token)} s at most`,
    `${Number((token.claims.exp - token.claims.iat).toFixed(3))} s`,
  ],
});

/** @rule 5.2.7 = 8.7 A token for embedded login lives at most 60 seconds. */
export const EMBED_LIFETIME = lifetimeUpTo(() => MAX_EMBED_LIFETIME_SECONDS);
export const ASSERTION_LIFETIME = lifetimeUpTo(({ rules }) => rules.maxAssertionLifetimeSeconds);

/** The parts of a token that its entry decides on. */
interface OfAnEntry {
  readonly key: { readonly policy: Pick<TrustPolicy, 'requireActor'> };
}

/** @rule P.requireActor If the entry requires an actor, a subject alone gets neither an access token nor a session. */
export const ACTOR_REQUIRED = {
  about: 'requireActor',
  reason: 'actor_required',
  fails: ({ key }) => key.policy.requireActor === true,
  compared: ({ key }) => [
    key.policy.requireActor === true ? 'an actor' : 'no actor needed',
    'a subject alone',
  ],
} as const satisfies TokenCheck<OfAnEntry>;

/** Checks an exchange without an actor. @throws OAuthRefusal `actor_required` */
export function refuseLoneSubject(subject: OfAnEntry): void {
  if (ACTOR_REQUIRED.fails(subject)) throw refusalBy(ACTOR_REQUIRED, subject);
}

/** RFC 9449 §6.1: a SHA-256 in base64url. */
export function thumbprintIn(cnf: unknown): string | undefined {
  if (!isJsonObject(cnf) || Object.keys(cnf).length !== 1) return undefined;
  const { jkt } = cnf;
  return typeof jkt === 'string' && /^[\w-]{43}$/.test(jkt) ? jkt : undefined;
}

/** The methods of a confirmation (RFC 7800 §3.1), never the key. */
function confirmationOf(cnf: unknown): string {
  if (cnf === undefined) return 'no cnf';
  return `cnf with ${isJsonObject(cnf) ? printableList(Object.keys(cnf)) : 'no object'}`;
}

function audiencesOf({ claims: { aud } }: AnyToken): readonly string[] {
  return [aud].flat();
}

/** The entry's expected audience, or the names of an authorization server for its clients. */
function grantAudiences({ key, rules: { ownIssuer, tokenEndpoint } }: AnyToken): string[] {
  const { expectedAudience } = key.policy;
  const names = expectedAudience === undefined ? [ownIssuer, tokenEndpoint] : [expectedAudience];
  return names.filter((name) => name !== undefined);
}

/** An expired token was sent late, or signed by a slow clock. Its age and lifetime show which. */
function expiryOf({ iat, exp }: TimedClaims, now: number): string {
  const end = endOf(exp - now, 'expires', 'expired');
  if (exp > now || exp < iat) return end;
  return `${end}; issued ${printableSeconds(now - iat)} ago for ${printableSeconds(exp - iat)}: sent late, or by a slow clock`;
}
