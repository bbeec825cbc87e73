// The checks of an external token by itself: the one list, in the order in which requests and explanations make them.
import { isJsonObject } from '../../platform/json/strict-json.js';
import { printableList, printableSeconds } from '../../platform/text/printable.js';
import type { AccessFlow } from '../host/flow.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import { flowsOf } from '../trust/trusted-key.js';
import type { LogoutClaims, TimedClaims } from './external-claims.js';
import { hasLogoutEvent, readExternalClaims, readLogoutClaims } from './external-claims.js';
import {
  ASSERTION_PURPOSE,
  GRANT_PURPOSE,
  LOGOUT_PURPOSE,
  NO_OTHER_PURPOSE,
  OF_THE_HEADER,
  OF_THE_KEY,
} from './key-checks.js';
import {
  EXPECTED_AUDIENCE,
  GRANT_AUDIENCE,
  OF_AN_ASSERTION,
  OF_WHOSE_IT_IS,
  OWN_AUDIENCE,
} from './party-checks.js';
import type { AnyToken, CheckedToken, TokenCheck } from './token-check.js';
import { rejectionBy } from './token-check.js';

/** Of a token for embedded login, from `iat` to `exp` (5.2.7). */
const MAX_EMBED_LIFETIME_SECONDS = 60;

type LogoutToken = CheckedToken<LogoutClaims>;

/** Whether tokens of the entry are taken at all, here and now. */
const OF_THE_ENTRY: readonly TokenCheck<AnyToken>[] = [
  {
    /** @rule D71 No token of a suspended entry is taken. */
    about: 'suspended',
    reason: 'entry_suspended',
    fails: ({ key }) => key.policy.suspended === true,
    compared: ({ key }) => [
      'an entry that is not suspended',
      key.policy.suspended === true ? 'a suspended one' : 'one that is not',
    ],
    logged: {},
  },
  {
    /** @rule P.notAfter From its `notAfter` on, an entry's tokens are refused, also unexpired ones. */
    about: 'notAfter',
    reason: 'trust_ended',
    fails: (token) => trustLeft(token) <= 0,
    compared: (token) => [
      `before ${token.key.policy.notAfter?.toISOString() ?? 'any time'}`,
      endOf(trustLeft(token), 'ends', 'ended'),
    ],
  },
  {
    /** @rule P.flows A token is refused on the way in for which its entry is not trusted. */
    about: 'flows',
    reason: 'flow_not_allowed',
    fails: ({ key, flow }) => !flowsOf(key.policy).has(flow),
    compared: ({ key, flow }) => [printableList(flowsOf(key.policy)), flow],
  },
];

const EXTERNAL_CLAIMS: TokenCheck = {
  about: 'its claims',
  // Or `claims_not_storable`.
  reason: 'claims_invalid',
  isNeeded: true,
  read: (token) => {
    const { jws, rules, key } = token;
    token.claims = readExternalClaims(jws.payload, rules.ownIssuer, key.policy.projects?.claim);
    return undefined;
  },
  compared: () => ['iss, sub, aud, iat, exp and jti, each of its type', 'all of them'],
};

/** One without a `typ` of its own would sign the user in whom it signs out. */
const NO_LOGOUT: TokenCheck<AnyToken> = {
  check: 'claims',
  about: 'events',
  reason: 'token_type_not_allowed',
  fails: ({ jws }) => hasLogoutEvent(jws.payload),
  compared: ({ jws }) => [
    'no event of a logout',
    hasLogoutEvent(jws.payload) ? 'a logout token' : 'no logout token',
  ],
};

/** @rule D127 What is bound to a key (RFC 7800) opens no session, which would be good without the key. */
const NO_CONFIRMATION: TokenCheck = {
  about: 'cnf',
  reason: 'confirmation_not_supported',
  fails: ({ jws: { payload } }) => payload['cnf'] !== undefined,
  compared: ({ jws: { payload } }) => ['no cnf', confirmationOf(payload['cnf'])],
};

/** See verification.ts for the proof. No other way to confirm a key is known here, nor a second one beside this. */
const DPOP_CONFIRMATION: TokenCheck = {
  about: 'cnf',
  reason: 'confirmation_not_supported',
  read: (token) => void (token.boundTo = thumbprintIn(token.jws.payload['cnf'])),
  fails: ({ jws: { payload }, boundTo }) => payload['cnf'] !== undefined && boundTo === undefined,
  compared: ({ jws: { payload } }) => ['no cnf, or one with jkt alone', confirmationOf(payload['cnf'])],
};

const LOGOUT_CLAIMS: TokenCheck<LogoutToken> = {
  about: 'its claims',
  // Or `claims_not_storable`.
  reason: 'claims_invalid',
  isNeeded: true,
  read: (token) => void (token.claims = readLogoutClaims(token.jws.payload)),
  compared: () => ['iss, aud, iat, jti, events, sub or sid, and no nonce', 'all of them'],
};

/**
 * @rule 5.2.6 Expired tokens are rejected.
 * @rule D10 The tolerance is for `nbf` and a future `iat` only; at `exp` a token is expired.
 */
const OF_THE_TIMES: readonly TokenCheck<AnyToken>[] = [
  {
    about: 'exp',
    reason: 'token_expired',
    fails: ({ claims, now }) => claims.exp <= now,
    compared: ({ claims, now }) => ['exp in the future', expiryOf(claims, now)],
  },
  {
    /** @rule 2.2.11 A token is refused before its nbf. */
    about: 'nbf',
    reason: 'token_not_yet_valid',
    fails: ({ claims: { nbf = 0 }, now, rules }) => nbf > now + rules.toleranceSeconds,
    compared: ({ claims: { nbf = 0 }, now, rules }) => [
      `nbf at most ${rules.toleranceSeconds} s ahead`,
      nbf > now ? `not valid for ${printableSeconds(nbf - now)} yet` : 'valid already',
    ],
  },
  {
    /** @rule D11 A token from the future is refused. */
    about: 'iat',
    reason: 'token_issued_in_future',
    fails: ({ claims: { iat }, now, rules }) => iat > now + rules.toleranceSeconds,
    compared: ({ claims: { iat }, now, rules }) => [
      `iat at most ${rules.toleranceSeconds} s ahead`,
      `issued ${printableSeconds(Math.abs(iat - now))} ${iat > now ? 'ahead' : 'ago'}`,
    ],
  },
];

/** A token as far as its entry decides on it. */
interface OfAnEntry {
  readonly key: { readonly policy: Pick<TrustPolicy, 'requireActor'> };
}

/** @rule P.requireActor Where the entry asks for an actor, a subject alone gets neither an access token nor a session. */
const ACTOR_REQUIRED = {
  about: 'requireActor',
  reason: 'actor_required',
  fails: ({ key }) => key.policy.requireActor === true,
  compared: ({ key }) => [
    key.policy.requireActor === true ? 'an actor' : 'no actor needed',
    'a subject alone',
  ],
} as const satisfies TokenCheck<OfAnEntry>;

const lifetimeUpTo = (limitOf: (token: CheckedToken) => number): TokenCheck => ({
  about: 'exp - iat',
  reason: 'token_lifetime_exceeded',
  fails: (token) => token.claims.exp - token.claims.iat > limitOf(token),
  compared: (token) => [
    `${limitOf(token)} s at most`,
    `${Number((token.claims.exp - token.claims.iat).toFixed(3))} s`,
  ],
});

const OF_A_LOGIN: readonly TokenCheck[] = [
  /** @rule 5.2.7 = 8.7 A token for embedded login lives at most 60 seconds. */
  lifetimeUpTo(() => MAX_EMBED_LIFETIME_SECONDS),
  // At an embedded login there is never an actor.
  ACTOR_REQUIRED,
];

const ofBothFlows = (confirmation: TokenCheck): readonly TokenCheck[] => [
  ...OF_THE_HEADER,
  NO_OTHER_PURPOSE,
  ...OF_THE_KEY,
  ...OF_THE_ENTRY,
  EXTERNAL_CLAIMS,
  NO_LOGOUT,
  confirmation,
  ...OF_WHOSE_IT_IS,
  EXPECTED_AUDIENCE,
  ...OF_THE_TIMES,
];

/** A JWT by the grant of RFC 7523, from whoever holds it. */
const OF_A_GRANT: readonly TokenCheck[] = [
  ...OF_THE_HEADER,
  GRANT_PURPOSE,
  ...OF_THE_KEY,
  ...OF_THE_ENTRY,
  EXTERNAL_CLAIMS,
  NO_LOGOUT,
  DPOP_CONFIRMATION,
  ...OF_WHOSE_IT_IS,
  GRANT_AUDIENCE,
  ...OF_THE_TIMES,
];

/** @rule 4.2.1 The limit of 60 seconds binds embedded login only. */
export const TOKEN_CHECKS: Readonly<Record<AccessFlow, readonly TokenCheck[]>> = {
  embed: [...ofBothFlows(NO_CONFIRMATION), ...OF_A_LOGIN],
  exchange: ofBothFlows(DPOP_CONFIRMATION),
  'jwt-bearer': OF_A_GRANT,
  'id-jag': [
    ...OF_THE_HEADER,
    ASSERTION_PURPOSE,
    ...OF_THE_KEY,
    ...OF_THE_ENTRY,
    EXTERNAL_CLAIMS,
    DPOP_CONFIRMATION,
    ...OF_WHOSE_IT_IS,
    OWN_AUDIENCE,
    ...OF_THE_TIMES,
    lifetimeUpTo(({ rules }) => rules.maxAssertionLifetimeSeconds),
    ...OF_AN_ASSERTION,
  ],
};

/** @rule D130 A logout token passes the checks of every external token, with claims and a `typ` of its own. */
export const LOGOUT_CHECKS: readonly TokenCheck<LogoutToken>[] = [
  ...OF_THE_HEADER,
  LOGOUT_PURPOSE,
  ...OF_THE_KEY,
  ...OF_THE_ENTRY,
  LOGOUT_CLAIMS,
  EXPECTED_AUDIENCE,
  ...OF_THE_TIMES,
];

/** Checks an exchange without an actor. @throws Rejection `actor_required` */
export function refuseLoneSubject(subject: OfAnEntry): void {
  if (ACTOR_REQUIRED.fails(subject)) throw rejectionBy(ACTOR_REQUIRED, subject);
}

/** RFC 9449 §6.1: a SHA-256 in base64url. */
function thumbprintIn(cnf: unknown): string | undefined {
  if (!isJsonObject(cnf) || Object.keys(cnf).length !== 1) return undefined;
  const { jkt } = cnf;
  return typeof jkt === 'string' && /^[\w-]{43}$/.test(jkt) ? jkt : undefined;
}

/** The methods of a confirmation (RFC 7800 §3.1), never the key. */
function confirmationOf(cnf: unknown): string {
  if (cnf === undefined) return 'no cnf';
  return `cnf with ${isJsonObject(cnf) ? printableList(Object.keys(cnf)) : 'no object'}`;
}

/** Seconds until the entry is no longer trusted; none are left from the very moment on. */
function trustLeft({ key: { policy }, now }: AnyToken): number {
  return policy.notAfter === undefined ? Number.POSITIVE_INFINITY : policy.notAfter.getTime() / 1000 - now;
}

/** An expired token was sent late, or signed by a slow clock: its age and its life say which. */
function expiryOf({ iat, exp }: TimedClaims, now: number): string {
  const end = endOf(exp - now, 'expires', 'expired');
  if (exp > now || exp < iat) return end;
  return `${end}; issued ${printableSeconds(now - iat)} ago for ${printableSeconds(exp - iat)}: sent late, or by a slow clock`;
}

function endOf(secondsLeft: number, ends: string, ended: string): string {
  if (secondsLeft === Number.POSITIVE_INFINITY) return `never ${ends}`;
  return secondsLeft > 0
    ? `${ends} in ${printableSeconds(secondsLeft)}`
    : `${ended} ${printableSeconds(-secondsLeft)} ago`;
}
