// Reads the content of a key set (RFC 7517): the keys that can verify tokens, and why the others are not used.
import type { JsonWebKey, KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import {
  isJsonObject,
  isUnstorable,
  JsonError,
  parseStrictJsonDocument,
} from '../../platform/json/strict-json.js';
import { visible } from '../../platform/text/printable.js';
import type { Algorithm } from './algorithms.js';
import { algorithmNamed, algorithmsFitting, familyOf, keyFits } from './algorithms.js';

/** A public key of a key set, with the algorithms that it may verify. */
export interface JwksKey {
  readonly kid: string;
  readonly algorithms: ReadonlySet<Algorithm>;
  readonly publicKey: KeyObject;
}

export interface JwksContent {
  readonly keys: readonly JwksKey[];
  /** One message for each unused key: its index, its kid and the rule, but no key material. */
  readonly warnings: readonly string[];
}

/** The document is no key set. The message names the rule. */
export class JwksContentError extends Error {}

/** A key is unusable. The message completes a sentence that begins with the key. */
export class UnusableKeyError extends Error {}

const MAX_KEYS = 100;
/** The limit for every key, because an index entry of revocations holds issuer and kid. */
export const MAX_KID_BYTES = 512;
/** How many keys are tried for one signature, if kid and algorithm do not select one. */
export const MAX_TRIED_KEYS = 3;
const MAX_REASONS = 3;
/** Enough of a kid to find the key. A foreign server's values must not fill the log. */
const MAX_SHOWN_CHARACTERS = 64;

/** The public properties of each supported key type (RFC 7518 §6, RFC 8037 §2). */
const PUBLIC_MEMBERS = {
  RSA: ['n', 'e'],
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
} as const;
const CURVES: readonly unknown[] = ['P-256', 'P-384', 'P-521', 'Ed25519'];
/** The private parameters of the JWK registry (RFC 7518 §6, RFC 8037 §2, and `priv` of AKP keys). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/**
 * Reads a key set.
 * @rule D35 Keys that cannot verify signatures are dropped with one warning each; the others are used.
 * @throws JwksContentError if the document as a whole is no key set
 */
export function readJwks(bytes: Uint8Array): JwksContent {
  const warnings: string[] = [];
  const usable: LabelledKey[] = [];
  for (const [index, jwk] of parseKeys(bytes).entries()) {
    try {
      usable.push({ ...readKey(jwk), label: labelOf(index, jwk) });
    } catch (error) {
      if (!(error instanceof UnusableKeyError)) throw error;
      warnings.push(`${labelOf(index, jwk)} ${error.message}`);
    }
  }
  return { keys: withoutRepeated(usable, warnings), warnings };
}

/**
 * Writes keys as a key set that `readJwks` reads back as the same keys, with public properties only.
 * @param warnings of the read set: if no key is usable, the first ones are kept as the reason
 */
export function writeJwks(keys: readonly JwksKey[], warnings: readonly string[] = []): string {
  if (keys.length > 0) return JSON.stringify({ keys: keys.map(toJwk) });
  return JSON.stringify({ keys: [], because: warnings.slice(0, MAX_REASONS).join('; ') });
}

/** Why a written key set has no usable key; undefined if it has one. */
export function whyUnusable(written: string): string | undefined {
  // Called every second, so only such a set is parsed.
  if (!written.startsWith('{"keys":[]')) return undefined;
  const { because } = JSON.parse(written) as { because?: string };
  return because || 'the set has no keys';
}

interface LabelledKey extends JwksKey {
  readonly label: string;
}

function parseKeys(bytes: Uint8Array): unknown[] {
  const document = parseDocument(bytes);
  if (!isJsonObject(document) || !Array.isArray(document['keys'])) {
    throw new JwksContentError('the answer is not a JSON object with an array "keys"');
  }
  const keys: unknown[] = document['keys'];
  if (keys.length > MAX_KEYS) throw new JwksContentError(`the set has more than ${MAX_KEYS} keys`);
  return keys;
}

/** @throws JwksContentError */
export function parseDocument(bytes: Uint8Array): unknown {
  try {
    return parseStrictJsonDocument(bytes);
  } catch (error) {
    if (error instanceof JsonError)
      throw new JwksContentError(`the answer is no usable JSON: ${error.message}`);
    throw error;
  }
}

function readKey(value: unknown): JwksKey {
  const jwk = verifyingJwk(value);
  const kid = readKid(jwk);
  const publicKey = importKey(jwk);
  return { kid, publicKey, algorithms: inferAlgorithms(jwk['alg'], publicKey) };
}

/** The key of a single JWK for signatures, without a check of its strength. @throws UnusableKeyError */
export function readPublicJwk(value: unknown): KeyObject {
  return importKey(verifyingJwk(value));
}

/**
 * Removes properties that are null or an empty list, which some libraries write for absent ones.
 * @throws UnusableKeyError for a key for another purpose, or one whose private half is in the set
 */
function verifyingJwk(value: unknown): Record<string, unknown> {
  if (!isJsonObject(value)) throw new UnusableKeyError('is not an object');
  const saysNothing = (member: unknown) => member === null || (Array.isArray(member) && member.length === 0);
  const jwk = Object.fromEntries(Object.entries(value).filter(([, member]) => !saysNothing(member)));
  const { kty, use = 'sig', key_ops: operations = ['verify'] } = jwk;
  if (kty === 'oct') throw new UnusableKeyError('is symmetric (kty "oct")');
  if (PRIVATE_MEMBERS.some((member) => member in jwk)) throw new UnusableKeyError('has private members');
  if (use !== 'sig') throw new UnusableKeyError('has a use other than "sig"');
  if (!Array.isArray(operations) || !operations.includes('verify'))
    throw new UnusableKeyError('has key_ops without "verify"');
  return jwk;
}

/** Every usable key needs a kid, because the audit trail names the key of every token. */
function readKid({ kid }: Record<string, unknown>): string {
  if (typeof kid !== 'string' || kid === '') throw new UnusableKeyError('has no kid');
  if (isUnstorable(kid)) throw new UnusableKeyError('has a kid with NUL or a lone surrogate');
  if (Buffer.byteLength(kid) > MAX_KID_BYTES)
    throw new UnusableKeyError(`has a kid of over ${MAX_KID_BYTES} bytes`);
  // Log and trail repeat the kid with each token.
  if (visible(kid) !== kid)
    throw new UnusableKeyError('has a kid with characters that cannot be seen, or a backslash');
  return kid;
}

function importKey(jwk: Record<string, unknown>): KeyObject {
  const { kty, crv } = jwk;
  if (kty !== 'RSA' && kty !== 'EC' && kty !== 'OKP')
    throw new UnusableKeyError('has a kty that is not supported');
  if (kty !== 'RSA' && !CURVES.includes(crv)) throw new UnusableKeyError('has a crv that is not supported');
  const members = PUBLIC_MEMBERS[kty].map((member) => [member, jwk[member]]);
  const publicJwk = { kty, ...Object.fromEntries(members) } as JsonWebKey;
  try {
    return createPublicKey({ key: publicJwk, format: 'jwk' });
  } catch {
    throw new UnusableKeyError('is not a valid public key');
  }
}

/**
 * @rule 2.1.inferred The algorithm follows from `alg`, `kty` and `crv`.
 * Without `alg` an RSA key is for the PKCS #1 algorithms only, as most issuers mean it (D35).
 */
function inferAlgorithms(alg: unknown, key: KeyObject): ReadonlySet<Algorithm> {
  refuseWeakKey(key);
  if (alg === undefined) {
    return new Set(algorithmsFitting(key).filter((algorithm) => familyOf(algorithm) !== 'RSA-PSS'));
  }
  const algorithm = algorithmNamed(alg);
  if (algorithm === undefined) throw new UnusableKeyError('has an alg that is not supported');
  if (!keyFits(key, algorithm)) throw new UnusableKeyError('does not fit its alg');
  return new Set([algorithm]);
}

function refuseWeakKey(key: KeyObject): void {
  if (algorithmsFitting(key).length > 0) return;
  if (key.asymmetricKeyType !== 'ed25519') throw new UnusableKeyError('is too small or has a weak exponent');
  throw new UnusableKeyError('is a point of small order, or not written in its only form');
}

/** Identical keys are one key. Of different keys with one kid the token's `alg` selects one, or they are tried in order. */
function withoutRepeated(keys: readonly LabelledKey[], warnings: string[]): JwksKey[] {
  const kept: JwksKey[] = [];
  for (const { label, ...key } of keys) {
    const algorithms = [...key.algorithms];
    const rivals = kept.filter(
      (one) => one.kid === key.kid && algorithms.some((name) => one.algorithms.has(name)),
    );
    const isRepeated = rivals.some(
      (one) => one.publicKey.equals(key.publicKey) && algorithms.every((name) => one.algorithms.has(name)),
    );
    if (isRepeated) continue;
    if (rivals.length < MAX_TRIED_KEYS) kept.push(key);
    else
      warnings.push(`${label} is never tried: ${MAX_TRIED_KEYS} keys before it have its kid and algorithm`);
  }
  return kept;
}

function labelOf(index: number, jwk: unknown): string {
  const kid = isJsonObject(jwk) && typeof jwk['kid'] === 'string' ? jwk['kid'] : undefined;
  return kid === undefined ? `key ${index}` : `key ${index} (kid ${quoteKid(kid)})`;
}

export function quoteKid(kid: string): string {
  return `"${visible(kid.slice(0, MAX_SHOWN_CHARACTERS))}"`;
}

function toJwk({ kid, algorithms, publicKey }: JwksKey): JsonWebKey {
  const [alg, ...others] = algorithms;
  // A key with several algorithms has no `alg`.
  return { ...publicKey.export({ format: 'jwk' }), kid, ...(others.length === 0 ? { alg } : {}) };
}
