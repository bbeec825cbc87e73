// Verifies DPoP proofs: JWTs by which a client proves possession of a key with each request (RFC 9449 §4.3).
import type { KeyObject } from 'node:crypto';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  printable,
  printableAddress,
  printableList,
  printableName,
  printableSeconds,
} from '../../platform/text/printable.js';
import { canonicalUri } from '../../platform/text/uri.js';
import { isTokenRefusal, OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { Algorithm } from '../trust/algorithms.js';
import { algorithmNamed, ALGORITHMS, keyFits, thumbprintOf } from '../trust/algorithms.js';
import { readPublicJwk, UnusableKeyError } from '../trust/jwks-content.js';
import type { CheckResult, TokenCheck } from '../verify/check-runner.js';
import { passAll, resultsOf, UNREAD } from '../verify/check-runner.js';
import type { CompactJws } from '../verify/compact-jws.js';
import { isSignatureValid, parseCompactJws, typeOf } from '../verify/compact-jws.js';
import type { TokenUse } from '../verify/external-claims.js';

/** A sent proof, and its request. */
export interface SentProof {
  /** The `DPoP` header. */
  readonly text: string;
  readonly method: string;
  /** Of `publicAddress`. */
  readonly address: string | undefined;
}

/** The expected values of a proof. */
export interface ProofTerms {
  /** Seconds since the Unix epoch. */
  readonly now: number;
  /** The access token or session token of the proof, at the API. Secret. */
  readonly accessToken?: string;
}

/** A valid proof for its request. Its `jti` is not checked for replay yet. */
export interface DpopProof {
  /** The thumbprint of its key (RFC 7638), as in `cnf.jkt`. */
  readonly thumbprint: string;
  /** As it was sent. */
  readonly nonce: unknown;
  readonly use: TokenUse;
}

/** How many seconds `iat` may differ from the present, in both directions. */
export const PROOF_SECONDS = 60;
/** A proof with an RSA key of 4,096 bits has some 2,000 characters. */
export const MAX_PROOF_CHARACTERS = 8_192;
/** Node.js accepts longer keys, some of which are slow to verify. */
const MAX_RSA_BITS = 4_096;
const MAX_RSA_EXPONENT = 2n ** 32n;

interface ProofKey {
  readonly publicKey: KeyObject;
  /** Undefined for a key that does not fit the `alg`. */
  readonly thumbprint: string | undefined;
}

/** A proof during its checks. Each check sets what it reads, for later checks. */
class CheckedProof {
  jws = UNREAD;
  algorithm: Algorithm | undefined = undefined;
  key: ProofKey | undefined = undefined;
  isSigned = false;

  constructor(
    readonly sent: SentProof,
    readonly terms: ProofTerms,
  ) {}

  get claims(): Readonly<Record<string, unknown>> {
    return this.jws.payload;
  }
}

/** All checks have one reason. Log and trail name the check. */
const checked = (check: Omit<TokenCheck<CheckedProof>, 'reason' | 'logged'>): TokenCheck<CheckedProof> => ({
  ...check,
  reason: 'dpop_proof_invalid',
  logged: (proof) => {
    const [expected, found] = check.compared(proof);
    return { detail: check.about, expected, found };
  },
});

/**
 * An optional `exp` or `nbf` applies as in any JWT, `nbf` with the tolerance of `iat`.
 * @rule D141 A proof passes every check of RFC 9449 §4.3, by the clock of the database, and is valid for 60 seconds.
 */
const PROOF_CHECKS: readonly TokenCheck<CheckedProof>[] = [
  checked({
    // Node.js joins repeated headers by commas, which no JWT contains.
    about: 'DPoP',
    isNeeded: true,
    fails: ({ sent }) => sent.text.includes(','),
    compared: ({ sent }) => ['one header', sent.text.includes(',') ? 'several' : 'one'],
  }),
  checked({
    about: 'its form',
    isNeeded: true,
    read: (proof) => void (proof.jws = readProof(proof.sent.text)),
    compared: () => ['a JWT in compact form', 'a JWT in compact form'],
  }),
  checked({
    about: 'typ',
    fails: ({ jws }) => typeOf(jws) !== 'dpop+jwt',
    compared: ({ jws }) => ['dpop+jwt', printableName(jws.header['typ'])],
  }),
  checked({
    about: 'crit, b64',
    fails: ({ jws: { header } }) => header['crit'] !== undefined || header['b64'] !== undefined,
    compared: ({ jws: { header } }) => ['neither', printable(header['crit'] ?? header['b64'])],
  }),
  checked({
    about: 'alg',
    isNeeded: true,
    read: (proof) => void (proof.algorithm = algorithmNamed(proof.jws.header['alg'])),
    fails: ({ algorithm }) => algorithm === undefined,
    compared: ({ jws }) => [printableList(ALGORITHMS), printableName(jws.header['alg'])],
  }),
  checked({
    about: 'jwk',
    isNeeded: true,
    read: readKey,
    fails: ({ key }) => key?.thumbprint === undefined,
    compared: ({ key, algorithm }) => [
      `a public key for ${algorithm ?? 'its alg'}, of RSA from 2048 to ${MAX_RSA_BITS} bits`,
      key === undefined ? 'none' : `a key of type ${printable(key.publicKey.asymmetricKeyType)}`,
    ],
  }),
  checked({
    about: 'its signature',
    isNeeded: true,
    read: verifySignature,
    fails: ({ isSigned }) => !isSigned,
    compared: ({ isSigned }) => [
      'by the key of jwk',
      isSigned ? 'by that key' : 'by another key, or of another text',
    ],
  }),
  checked({
    about: 'htm',
    fails: ({ claims, sent }) => claims['htm'] !== sent.method,
    compared: ({ claims, sent }) => [sent.method, printable(claims['htm'])],
  }),
  checked({
    about: 'htu',
    fails: ({ claims, sent }) => sent.address === undefined || comparable(claims['htu']) !== sent.address,
    compared: ({ claims, sent }) => [printable(sent.address), shownAddress(claims['htu'])],
  }),
  checked({
    about: 'iat',
    fails: ({ claims, terms }) => !(Math.abs(secondsAhead(claims['iat'], terms)) <= PROOF_SECONDS),
    compared: ({ claims: { iat }, terms }) => [
      `${PROOF_SECONDS} s ago or ahead at most`,
      shownTime(iat, terms),
    ],
  }),
  checked({
    about: 'exp',
    fails: ({ claims: { exp }, terms }) => exp !== undefined && !(secondsAhead(exp, terms) > 0),
    compared: ({ claims: { exp }, terms }) => ['none, or a time ahead', shownTime(exp, terms)],
  }),
  checked({
    about: 'nbf',
    fails: ({ claims: { nbf }, terms }) => nbf !== undefined && !(secondsAhead(nbf, terms) <= PROOF_SECONDS),
    compared: ({ claims: { nbf }, terms }) => [
      `none, or ${PROOF_SECONDS} s ahead at most`,
      shownTime(nbf, terms),
    ],
  }),
  checked({
    about: 'jti',
    fails: ({ claims }) => typeof claims['jti'] !== 'string' || claims['jti'] === '',
    compared: ({ claims: { jti } }) => ['a text', jti === '' ? printable(jti) : `a ${typeof jti}`],
  }),
  checked({
    about: 'ath',
    fails: ({ claims, terms }) =>
      terms.accessToken !== undefined && claims['ath'] !== athOf(terms.accessToken),
    compared: ({ claims: { ath }, terms }) => [
      terms.accessToken === undefined ? 'not needed' : 'the hash of the access token',
      ath === undefined ? 'nothing' : 'a hash',
    ],
  }),
];

/** @throws OAuthRefusal `dpop_proof_invalid`, whose detail is the first check that fails */
export async function verifyProof(sent: SentProof, terms: ProofTerms): Promise<DpopProof> {
  const proof = new CheckedProof(sent, terms);
  await passAll(PROOF_CHECKS, proof);
  const { claims, key } = proof;
  remember(sent.text, key);
  const { nonce, jti, iat } = claims;
  const thumbprint = String(key?.thumbprint);
  // Ids are per key, because another client's proof or a token may have the same.
  const use = { jti: `dpop:${JSON.stringify([thumbprint, jti])}`, exp: Number(iat) + PROOF_SECONDS };
  return { thumbprint, nonce, use };
}

/** The result of each check of `verifyProof`. */
export function explainProof(sent: SentProof, terms: ProofTerms): Promise<readonly CheckResult[]> {
  return resultsOf(PROOF_CHECKS, new CheckedProof(sent, terms));
}

/** A URL without user, spaces, backslashes and other invalid characters. */
const HTTP_URI = /^https?:\/\/[!-.0-?A-[\]-~]+(\/[!-[\]-~]*)?$/i;

/** An address in the normalized form of §4.3, without query and fragment. Undefined if it is none. */
function comparable(uri: unknown): string | undefined {
  if (typeof uri !== 'string') return undefined;
  const address = uri.replace(/[?#].*$/s, '');
  return HTTP_URI.test(address) ? canonicalUri(address) : undefined;
}

/**
 * The public address of a request, whatever `Host` says.
 * @param baseUrl the public address of the host; a proxy may remove its path, or all routes may begin with it
 * @param target the address of the request line
 * @returns undefined if the target is no address
 */
export function publicAddress(baseUrl: string, target: string): string | undefined {
  const [path = ''] = target.split('?', 1);
  if (!path.startsWith('/')) return undefined;
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  return comparable(path.startsWith(`${prefix}/`) ? origin + path : origin + prefix + path);
}

function readProof(text: string): CompactJws {
  try {
    if (text.length <= MAX_PROOF_CHARACTERS) return parseCompactJws(text, { isRemembered: false });
  } catch (error) {
    if (!isTokenRefusal(error)) throw error;
    throw new OAuthRefusal('dpop_proof_invalid', { detail: error.context.detail });
  }
  throw new OAuthRefusal('dpop_proof_invalid', { detail: `over ${MAX_PROOF_CHARACTERS} characters` });
}

/** Keys of proofs with a valid signature, by their headers. A client sends the same header each time. */
const known = new LRUCache<string, ProofKey>({ max: 1_000 });
const MAX_KNOWN_CHARACTERS = 1_024;

function headerOf(text: string): string {
  return text.slice(0, text.indexOf('.'));
}

function remember(text: string, key: ProofKey | undefined): void {
  const header = headerOf(text);
  if (key === undefined || header.length > MAX_KNOWN_CHARACTERS || known.has(header)) return;
  // A copy: a substring would keep the whole string in memory.
  known.set(Buffer.from(header, 'latin1').toString('latin1'), key);
}

function readKey(proof: CheckedProof): Promise<void> | undefined {
  proof.key = known.get(headerOf(proof.sent.text));
  return proof.key === undefined ? importKey(proof) : undefined;
}

async function importKey(proof: CheckedProof): Promise<void> {
  const { jws, algorithm } = proof;
  try {
    const { jwk } = jws.header;
    const publicKey = readPublicJwk(jwk);
    const { alg } = jwk as { alg?: unknown };
    if ((alg ?? undefined) !== undefined && algorithmNamed(alg) !== algorithm)
      throw new UnusableKeyError('has another alg than the proof');
    // Node.js accepts keys without modulus or exponent, which have no thumbprint.
    const isGood = algorithm !== undefined && isFitting(publicKey, algorithm);
    proof.key = { publicKey, thumbprint: isGood ? await thumbprintOf(publicKey) : undefined };
  } catch (error) {
    if (!(error instanceof UnusableKeyError)) throw error;
    throw new OAuthRefusal('dpop_proof_invalid', { detail: `jwk ${error.message}` });
  }
}

function isFitting(key: KeyObject, algorithm: Algorithm): boolean {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  return keyFits(key, algorithm) && modulusLength <= MAX_RSA_BITS && publicExponent <= MAX_RSA_EXPONENT;
}

async function verifySignature(proof: CheckedProof): Promise<void> {
  const { algorithm, key, jws } = proof;
  if (algorithm === undefined || key === undefined) return;
  proof.isSigned = await isSignatureValid(algorithm, key, jws.signingInput, jws.signature);
}

/** NaN if it is no number. */
function secondsAhead(time: unknown, { now }: ProofTerms): number {
  return typeof time === 'number' ? time - now : Number.NaN;
}

function shownTime(time: unknown, terms: ProofTerms): string {
  const ahead = secondsAhead(time, terms);
  if (!Number.isFinite(ahead)) return printable(time);
  return `${printableSeconds(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'ago'}`;
}

/** §4.2: over the characters of the token. */
function athOf(accessToken: string): string {
  return hash('sha256', accessToken, 'base64url');
}

function shownAddress(htu: unknown): string {
  return printable(typeof htu === 'string' ? printableAddress(htu) : htu);
}
