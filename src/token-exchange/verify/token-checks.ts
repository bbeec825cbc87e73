// The checks of a token: of its header, key and signature, of its key's entry, and of its claims. flow-checks.ts has their order.
import { isJsonObject } from '../../platform/json/strict-json.js';
import { printable, printableList, printableName, printableSeconds } from '../../platform/text/printable.js';
import { algorithmNamed, thumbprintOf } from '../trust/algorithms.js';
import { keySetInWords } from '../trust/jwks/jwks-cache-entry.js';
import type { TrustedKey, TrustPolicy } from '../trust/trusted-key.js';
import { flowsOf } from '../trust/trusted-key.js';
import {
  comparedClaims,
  matchesSubject,
  otherClaim,
  shownPatterns,
  shownSubject,
} from '../workloads/workload-policy.js';
import type { AnyToken, CheckedToken, Compared, TokenCheck } from './check-runner.js';
import { refusalBy } from './check-runner.js';
import type { CompactJws } from './compact-jws.js';
import { parseCompactJws, signerAmong, typeOf } from './compact-jws.js';
import type { LogoutClaims, TimedClaims } from './external-claims.js';
import {
  hasLogoutEvent,
  readExternalClaims,
  readIssuer,
  readLogoutClaims,
  roleOf,
  rolesIn,
  withoutNulls,
  withOwnNames,
} from './external-claims.js';
import { heldKids, likeness, usableAlgorithms } from './key-hints.js';
import { ACCESS_TOKEN_TYPE } from './provider-policy.js';

/** Refuses an extension of JWS, as RFC 7515 §4.1.11 requires for unsupported ones. */
const withoutMember = (name: 'crit' | 'b64'): TokenCheck<AnyToken> => ({
  about: name,
  reason: 'header_not_allowed',
  fails: ({ jws }) => jws.header[name] !== undefined,
  compared: ({ jws }) => ['nothing', printable(jws.header[name])],
  logged: { detail: name },
});

const form = (parse: (text: string) => CompactJws): TokenCheck<AnyToken> => ({
  about: 'its form',
  reason: 'token_malformed',
  isNeeded: true,
  read: (token) => void (token.jws = parse(token.text)),
  compared: () => ['a JWT in compact form', 'a JWT in compact form'],
});

/** `jwk`, `jku`, `x5u` and `x5c` are ignored: a token does not choose its key (RFC 8725 §3.10). */
export const FORM = form(parseCompactJws);

/** D130: null is an absent claim in an identity assertion and in a logout token, and a claim of the wrong type elsewhere. */
export const FORM_WITHOUT_NULLS = form((text) => {
  const jws = parseCompactJws(text);
  return { ...jws, payload: withoutNulls(jws.payload) };
});

/** @rule 2.2.kid The header must have a kid. */
export const KID: TokenCheck<AnyToken> = {
  about: 'kid',
  reason: 'kid_missing',
  isNeeded: true,
  fails: ({ jws: { header } }) => typeof header['kid'] !== 'string' || header['kid'] === '',
  compared: ({ jws }) => ['a text as kid', printableName(jws.header['kid'])],
};

export const ALGORITHM: TokenCheck<AnyToken> = {
  about: 'alg',
  reason: 'algorithm_not_allowed',
  isNeeded: true,
  read: (token) => void (token.algorithm = algorithmNamed(token.jws.header['alg'])),
  fails: ({ algorithm }) => algorithm === undefined,
  compared: ({ jws, rules }) => [usableAlgorithms(jws, rules.keys), printableName(jws.header['alg'])],
};

export const NO_CRIT = withoutMember('crit');

/** `b64` changes what is signed, and is valid only together with `crit` (RFC 7797 §6). */
export const NO_B64 = withoutMember('b64');

/** A check of the token's `typ`. @param isIt receives the result of `typeOf` */
export const purpose = (
  expected: string,
  isIt: (typ: string | undefined) => boolean,
): TokenCheck<AnyToken> => ({
  about: 'typ',
  reason: 'token_type_not_allowed',
  fails: ({ jws }) => !isIt(typeOf(jws)),
  compared: ({ jws }) => [expected, printableName(jws.header['typ'])],
});

/**
 * A token for another purpose is no external token, least of all our own access tokens (D31). RFC 7519 §5.1 leaves `typ` free; by
 * RFC 8725 §3.11 other classes of tokens use `something+jwt`. `NAMED_TYPE` checks access tokens (RFC 9068).
 */
export const NO_OTHER_PURPOSE = purpose(
  'a media type that does not end in +jwt, without parameters, or no typ',
  (typ) => typ === undefined || typ === ACCESS_TOKEN_TYPE || (typ !== '' && !typ.endsWith('+jwt')),
);

/** @rule P.typ An RFC 9068 access token is accepted only if its entry names the type. Then no other token is accepted. */
export const NAMED_TYPE: TokenCheck<AnyToken> = {
  check: 'trust',
  about: 'typ',
  reason: 'token_type_not_allowed',
  fails: ({ jws, key: { policy } }) =>
    (typeOf(jws) === ACCESS_TOKEN_TYPE) !== (policy.typ === ACCESS_TOKEN_TYPE),
  compared: ({ jws, key: { policy } }) => [
    policy.typ ?? `another typ than ${ACCESS_TOKEN_TYPE}, which typ of the entry allows`,
    printableName(jws.header['typ']),
  ],
};

/** OpenID Connect Back-Channel Logout 1.0 §2.4. Many libraries write `JWT` unless told otherwise. */
export const LOGOUT_PURPOSE: TokenCheck<AnyToken> = {
  about: 'typ',
  reason: 'token_type_not_allowed',
  fails({ jws, rules: { isStrict } }) {
    const typ = typeOf(jws) ?? 'jwt';
    return typ !== 'logout+jwt' && (isStrict || typ !== 'jwt');
  },
  compared: ({ jws, rules: { isStrict } }) => [
    isStrict ? 'logout+jwt' : 'logout+jwt, JWT, or no typ',
    printableName(jws.header['typ']),
  ],
};

export const ISSUER: TokenCheck<AnyToken> = {
  check: 'key',
  about: 'iss',
  reason: 'claims_invalid',
  isNeeded: true,
  read: ({ jws }) => void readIssuer(jws.payload),
  compared: ({ jws }) => ['a text as iss', printable(jws.payload['iss'])],
};

/** @param find may fetch a key set once, for a bounded time (D34) */
const knownIssuer = (
  find: (token: AnyToken) => readonly TrustedKey[] | Promise<readonly TrustedKey[]> | undefined,
): TokenCheck<AnyToken> => ({
  about: 'iss',
  reason: 'issuer_unknown',
  isNeeded: true,
  async read(token) {
    token.candidates = (await find(token)) ?? [];
    [token.found] = token.candidates;
  },
  // Collecting the issuers needs a pass over all entries, so it happens only without a key.
  fails: (token) => token.found === undefined && !token.rules.keys.issuers().has(issuerOf(token)),
  compared: (token) => [printableList(token.rules.keys.issuers()), printable(issuerOf(token))],
  logged: (token) => likeness(issuerOf(token), token.rules.keys.issuers()),
});

/** @rule 5.2.1 The key is the one whose kid and issuer match the token's. */
export const KNOWN_ISSUER = knownIssuer((token) =>
  token.rules.keys.find(issuerOf(token), kidOf(token), token.algorithm),
);
export const KNOWN_LOGOUT_ISSUER = knownIssuer((token) => {
  const { keys } = token.rules;
  if (!('findForLogout' in keys)) return undefined;
  return keys.findForLogout(issuerOf(token), kidOf(token), token.algorithm);
});

/** Tells why no key is found if the issuer's key set has no usable key. */
export const USABLE_KEY_SET: TokenCheck<AnyToken> = {
  about: 'its key set',
  reason: 'key_set_unavailable',
  isNeeded: true,
  fails: (token) =>
    token.found === undefined && token.rules.keys.unusableKeySet(issuerOf(token)) !== undefined,
  compared: (token) => {
    const unusable = token.rules.keys.unusableKeySet(issuerOf(token));
    return ['usable', unusable === undefined ? 'usable, or no key set' : keySetInWords(unusable)];
  },
};

export const KNOWN_KEY: TokenCheck<AnyToken> = {
  about: 'kid',
  reason: 'kid_unknown',
  isNeeded: true,
  fails: ({ found }) => found === undefined,
  compared: kidsOf,
  logged: (token) => {
    const [expected, found] = kidsOf(token);
    const seconds = token.rules.keys.secondsToNextSearch(issuerOf(token));
    const detail =
      seconds && `its key set is fetched again for an unknown kid in ${printableSeconds(Math.ceil(seconds))}`;
    return { expected, found, ...(detail && { detail }) };
  },
};

/** The entry says which algorithms a key is for, not the token (RFC 8725 §3.1). */
export const KEY_ALGORITHM: TokenCheck<AnyToken> = {
  check: 'key',
  about: 'alg',
  reason: 'algorithm_not_allowed',
  isNeeded: true,
  fails: ({ algorithm, key }) => algorithm === undefined || !key.algorithms.has(algorithm),
  compared: ({ algorithm, candidates }) => [
    printableList(new Set(candidates.flatMap(({ algorithms }) => [...algorithms]))),
    printable(algorithm),
  ],
};

export const SIGNATURE: TokenCheck<AnyToken> = {
  about: 'its signature',
  reason: 'signature_invalid',
  isNeeded: true,
  read: verifySignature,
  fails: ({ isSigned }) => !isSigned,
  compared: ({ key, isSigned }) => [
    `by the key ${printableName(key.kid)}`,
    isSigned ? 'by that key' : 'by another key, or of another text',
  ],
  logged: ({ thumbprints }) =>
    thumbprints.length === 0
      ? {}
      : { expected: `a signature by the key with the thumbprint ${thumbprints.join(' or ')}` },
};

/** Tokens of a suspended entry are refused (D70). */
export const NOT_SUSPENDED: TokenCheck<AnyToken> = {
  about: 'suspended',
  reason: 'entry_suspended',
  fails: ({ key }) => key.policy.suspended === true,
  compared: ({ key }) => [
    'an entry that is not suspended',
    key.policy.suspended === true ? 'a suspended one' : 'one that is not',
  ],
  logged: {},
};

/** @rule P.notAfter From its `notAfter` on, an entry's tokens are refused, also unexpired ones. */
export const TRUST_NOT_ENDED: TokenCheck<AnyToken> = {
  about: 'notAfter',
  reason: 'trust_ended',
  fails: (token) => trustLeft(token) <= 0,
  compared: (token) => [
    token.key.policy.notAfter === undefined
      ? 'any time'
      : `before ${token.key.policy.notAfter.toISOString()}`,
    endOf(trustLeft(token), 'ends', 'ended'),
  ],
};

/** @rule P.flows A token is refused in a flow that its entry does not allow. */
export const ALLOWED_FLOW: TokenCheck<AnyToken> = {
  about: 'flows',
  reason: 'flow_not_allowed',
  fails: ({ key, flow }) => flow === 'explain' || flow === 'signals' || !flowsOf(key.policy).has(flow),
  compared: ({ key, flow }) => [printableList(flowsOf(key.policy)), flow],
};

async function verifySignature(token: AnyToken): Promise<void> {
  const { algorithm, candidates, jws } = token;
  const signer = algorithm && (await signerAmong(candidates, algorithm, jws));
  token.isSigned = signer !== undefined;
  token.found = signer ?? token.found;
  if (!token.isSigned) {
    const thumbprints = await Promise.all(candidates.map(({ publicKey }) => thumbprintOf(publicKey)));
    token.thumbprints = thumbprints.filter((one) => one !== undefined);
  }
  token.now = token.rules.clock.nowSeconds();
}

function kidsOf(token: AnyToken): Compared {
  return [heldKids(issuerOf(token), token.rules.keys), printableName(kidOf(token))];
}

function issuerOf({ jws }: AnyToken): string {
  return readIssuer(jws.payload);
}

/** A string, once its check has passed. */
function kidOf({ jws }: AnyToken): string {
  return String(jws.header['kid']);
}

/** Seconds until the entry's `notAfter`; 0 from that moment on. */
function trustLeft({ key: { policy }, now }: AnyToken): number {
  return policy.notAfter === undefined ? Number.POSITIVE_INFINITY : policy.notAfter.getTime() / 1000 - now;
}

/** @param ends as in `ends in 5 s`, and `never ends` */
function endOf(secondsLeft: number, ends: string, ended: string): string {
  if (secondsLeft === Number.POSITIVE_INFINITY) return `never ${ends}`;
  return secondsLeft > 0
    ? `${ends} in ${printableSeconds(secondsLeft)}`
    : `${ended} ${printableSeconds(-secondsLeft)} ago`;
}

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

/** Under the strict policy an unmapped role is a mistake, not a missing claim. */
export const MAPPED_ROLE: TokenCheck = {
  check: 'claims',
  about: 'roleMap',
  reason: 'role_not_recognized',
  fails: ({ jws: { payload }, key: { policy }, rules }) =>
    rules.isStrict &&
    policy.roleMap !== undefined &&
    rolesIn(payload, policy).length > 0 &&
    roleOf(payload, policy) === undefined,
  compared: ({ jws: { payload }, key: { policy } }) => [
    policy.roleMap === undefined ? 'any' : `one of ${printableList(policy.roleMap.keys())}`,
    policy.roleMap === undefined ? 'not mapped' : printableList(rolesIn(payload, policy)),
  ],
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

/** Only `jkt` alone is supported. See dpop-proofs.ts for the proof. */
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

/** A check of the time from `iat` to `exp`. */
export const lifetimeUpTo = (limitOf: (token: CheckedToken) => number): TokenCheck => ({
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

export function audiencesOf({ claims: { aud } }: AnyToken): readonly string[] {
  return [aud].flat();
}

/** An expired token was sent late, or signed by a slow clock. Its age and lifetime show which. */
function expiryOf({ iat, exp }: TimedClaims, now: number): string {
  const end = endOf(exp - now, 'expires', 'expired');
  if (exp > now || exp < iat) return end;
  return `${end}; issued ${printableSeconds(now - iat)} ago for ${printableSeconds(exp - iat)}: sent late, or by a slow clock`;
}
