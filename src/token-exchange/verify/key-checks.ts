// The checks of a token's header, key and signature, in the order in which checks.ts lists them.
import { printable, printableList, printableName, printableSeconds } from '../../platform/text/printable.js';
import { keySetInWords } from '../trust/jwks/key-set-state.js';
import { algorithmNamed, thumbprintOf, ALGORITHMS } from '../trust/algorithms.js';
import { ID_JAG_TYPE } from './assertion-claims.js';
import { parseCompactJws, signerAmong, typeOf } from './compact-jws.js';
import { readIssuer } from './external-claims.js';
import { Rejection } from '../refusals/rejection.js';
import type { AnyToken, Compared, TokenCheck } from './token-check.js';
import type { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { RejectionContext } from '../refusals/rejection.js';
import type { CompactJws } from './compact-jws.js';

/** OpenID Connect Back-Channel Logout 1.0 §2.4. Many libraries write `JWT` where nothing else is said. */
const LOGOUT_TYPES: readonly unknown[] = [undefined, 'logout+jwt', 'jwt'];
const GRANT_TYPES: readonly unknown[] = [undefined, 'jwt'];

/** An extension of JWS: none is understood, and one that is not understood must be refused (RFC 7515 §4.1.11). */
const withoutMember = (name: 'crit' | 'b64'): TokenCheck<AnyToken> => ({
  about: name,
  reason: 'header_not_allowed',
  fails: ({ jws }) => jws.header[name] !== undefined,
  compared: ({ jws }) => ['nothing', printable(jws.header[name])],
  logged: { detail: name },
});

/** `jwk`, `jku`, `x5u` and `x5c` are not looked at: a token does not choose its key (RFC 8725 §3.10). */
export const OF_THE_HEADER: readonly TokenCheck<AnyToken>[] = [
  {
    about: 'its form',
    reason: 'token_malformed',
    isNeeded: true,
    read: (token) => void (token.jws = parseCompactJws(token.text)),
    compared: () => ['a JWT in compact form', 'a JWT in compact form'],
  },
  {
    /** @rule 2.2.kid The header must carry a kid. */
    about: 'kid',
    reason: 'kid_missing',
    isNeeded: true,
    fails: ({ jws: { header } }) => typeof header['kid'] !== 'string' || header['kid'] === '',
    compared: ({ jws }) => ['a text as kid', printableName(jws.header['kid'])],
  },
  {
    about: 'alg',
    reason: 'algorithm_not_allowed',
    isNeeded: true,
    read: (token) => void (token.algorithm = algorithmNamed(token.jws.header['alg'])),
    fails: ({ algorithm }) => algorithm === undefined,
    compared: ({ jws, rules }) => [servedAlgorithms(jws, rules.keys), printableName(jws.header['alg'])],
  },
  withoutMember('crit'),
  // It changes what is signed, and means that only together with `crit` (RFC 7797 §6).
  withoutMember('b64'),
];

/**
 * A token made for another purpose is not an external token, our own access tokens first of all (D31). RFC 7519 §5.1 leaves `typ`
 * free; RFC 8725 §3.11 has other classes of token call themselves `something+jwt`.
 */
export const NO_OTHER_PURPOSE: TokenCheck<AnyToken> = {
  about: 'typ',
  reason: 'token_type_not_allowed',
  fails: ({ jws }) => typeOf(jws) === '' || typeOf(jws)?.endsWith('+jwt') === true,
  compared: ({ jws }) => [
    'a media type that does not end in +jwt, without parameters, or no typ',
    printableName(jws.header['typ']),
  ],
};

/** An identity assertion says by its `typ` what it is. */
export const ASSERTION_PURPOSE: TokenCheck = {
  about: 'typ',
  reason: 'token_type_not_allowed',
  fails: ({ jws }) => typeOf(jws) !== ID_JAG_TYPE,
  compared: ({ jws }) => [ID_JAG_TYPE, printableName(jws.header['typ'])],
};

/** Whether a text is a JWT whose `typ` is that of an identity assertion. Nothing else of it is looked at. */
export function isIdJag(text: string): boolean {
  try {
    return typeOf(parseCompactJws(text)) === ID_JAG_TYPE;
  } catch (error) {
    if (error instanceof Rejection) return false;
    throw error;
  }
}

/** The assertion of RFC 7523 has no type of its own, and those of other JWTs are refused. */
export const GRANT_PURPOSE: TokenCheck<AnyToken> = {
  about: 'typ',
  reason: 'token_type_not_allowed',
  fails: ({ jws }) => !GRANT_TYPES.includes(typeOf(jws)),
  compared: ({ jws }) => ['JWT, or no typ', printableName(jws.header['typ'])],
};

export const LOGOUT_PURPOSE: TokenCheck<AnyToken> = {
  about: 'typ',
  reason: 'token_type_not_allowed',
  fails: ({ jws }) => !LOGOUT_TYPES.includes(typeOf(jws)),
  compared: ({ jws }) => ['logout+jwt, JWT, or no typ', printableName(jws.header['typ'])],
};

export const OF_THE_KEY: readonly TokenCheck<AnyToken>[] = [
  {
    check: 'key',
    about: 'iss',
    reason: 'claims_invalid',
    isNeeded: true,
    read: ({ jws }) => void readIssuer(jws.payload),
    compared: ({ jws }) => ['a text as iss', printable(jws.payload['iss'])],
  },
  {
    /** @rule 5.2.1 The key is the one whose kid and issuer match the token's. */
    about: 'iss',
    reason: 'issuer_unknown',
    isNeeded: true,
    read: findKey,
    // The set of all issuers takes a pass over the entries: only where there is no key.
    fails: (token) => token.found === undefined && !token.rules.keys.issuers().has(issuerOf(token)),
    compared: (token) => [printableList(token.rules.keys.issuers()), printable(issuerOf(token))],
    logged: (token) => likeness(issuerOf(token), token.rules.keys.issuers()),
  },
  {
    /** Where no key is found, and a key set of the issuer serves none, that is the reason (D138). */
    about: 'its key set',
    reason: 'key_set_unavailable',
    isNeeded: true,
    fails: (token) =>
      token.found === undefined && token.rules.keys.unservingKeySet(issuerOf(token)) !== undefined,
    compared: (token) => {
      const unserving = token.rules.keys.unservingKeySet(issuerOf(token));
      return ['serving', unserving === undefined ? 'serving, or there is none' : keySetInWords(unserving)];
    },
  },
  {
    about: 'kid',
    reason: 'kid_unknown',
    isNeeded: true,
    fails: ({ found }) => found === undefined,
    compared: kidsOf,
    logged: (token) => {
      const [expected, found] = kidsOf(token);
      const seconds = token.rules.keys.secondsToNextSearch(issuerOf(token));
      const detail =
        seconds &&
        `its key set is fetched again for an unknown kid in ${printableSeconds(Math.ceil(seconds))}`;
      return { expected, found, ...(detail && { detail }) };
    },
  },
  {
    // Which algorithms a key serves is its entry's to say, not the token's: RFC 8725 §3.1.
    check: 'key',
    about: 'alg',
    reason: 'algorithm_not_allowed',
    isNeeded: true,
    fails: ({ algorithm, key }) => algorithm === undefined || !key.algorithms.has(algorithm),
    compared: ({ algorithm, candidates }) => [
      printableList(new Set(candidates.flatMap(({ algorithms }) => [...algorithms]))),
      printable(algorithm),
    ],
  },
  {
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
  },
];

/** May take one bounded fetch (D34). */
async function findKey(token: AnyToken): Promise<void> {
  const { keys } = token.rules;
  const [issuer, kid] = [issuerOf(token), kidOf(token)];
  token.candidates =
    token.flow === 'logout'
      ? await keys.findForLogout(issuer, kid, token.algorithm)
      : await keys.find(issuer, kid, token.algorithm);
  [token.found] = token.candidates;
}

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

/** A text, once its check has passed. */
function kidOf({ jws }: AnyToken): string {
  return String(jws.header['kid']);
}

type Keys = Pick<TrustedKeyService, 'issuers' | 'keysOf'>;

/**
 * Issuer and kid of a token whose header is refused, if it names a trusted issuer. Another token could hold anything.
 * @rule D77 Of an unverified token log and trail show issuer and kid if the issuer is trusted, and the algorithm.
 */
export function claimedKey({ header, payload }: CompactJws, keys: Keys): RejectionContext {
  const { iss } = payload;
  const { kid } = header;
  if (typeof iss !== 'string' || !keys.issuers().has(iss)) return {};
  return { issuer: iss, ...(typeof kid === 'string' && kid !== '' ? { kid: printableName(kid) } : {}) };
}

/** The algorithms that the token's keys serve where it is held, else those that there are. */
export function servedAlgorithms({ header, payload }: CompactJws, keys: Keys): string {
  const held = typeof payload['iss'] === 'string' ? keys.keysOf(payload['iss']) : [];
  const served = held.filter(({ kid }) => kid === header['kid']).flatMap(({ algorithms }) => [...algorithms]);
  return printableList(served.length === 0 ? ALGORITHMS : new Set(served));
}

/** The kids that the issuer's keys have. */
export function heldKids(issuer: string, keys: Keys): string {
  const kids = new Set(keys.keysOf(issuer).map((key) => key.kid));
  return kids.size === 0 ? 'a key of the issuer, of whom none is held' : printableList(kids);
}

/** An unknown issuer is not shown; but a trusted one that it resembles is. It takes one pass over the issuers. */
export function likeness(issuer: string, trusted: ReadonlySet<string>): RejectionContext {
  const plain = plainIssuer(issuer);
  for (const expected of trusted) {
    if (plainIssuer(expected) !== plain) continue;
    return { expected: printable(expected), found: `the same but for ${differenceOf(issuer, expected)}` };
  }
  return {};
}

/** Without what issuers are mistaken in: scheme, letter case, slashes at the end. */
function plainIssuer(issuer: string): string {
  return withoutSlashes(withoutScheme(issuer).toLowerCase());
}

function differenceOf(issuer: string, expected: string): string {
  if (withoutSlashes(issuer) === withoutSlashes(expected)) return 'a slash at its end';
  if (issuer.toLowerCase() === expected.toLowerCase()) return 'its letter case';
  if (withoutScheme(issuer) === withoutScheme(expected)) return 'its scheme';
  return 'scheme, letter case or a slash at its end';
}

function withoutScheme(issuer: string): string {
  return issuer.replace(/^https?:\/\//i, '');
}

/** By hand: a regular expression would begin anew at each slash. */
function withoutSlashes(issuer: string): string {
  let end = issuer.length;
  while (issuer[end - 1] === '/') end -= 1;
  return issuer.slice(0, end);
}
