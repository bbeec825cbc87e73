// Reads and writes compact JWS, and checks their signatures with node:crypto.
import type { KeyObject, SignKeyObjectInput } from 'node:crypto';
import { sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { isJsonObject, JsonError, parseStrictJsonBytes } from '../../platform/json/strict-json.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { Algorithm } from '../trust/algorithms.js';
import { familyOf, signatureParameters } from '../trust/algorithms.js';
import type { ClaimSet } from '../trust/claim-names.js';
import type { TrustedKey } from '../trust/trusted-key.js';

/**
 * Most characters of the fields that have a limit (8.9 to 8.11); a character is a code point.
 * @rule 4.2.scope = 8.9 At most 1024 characters.
 * @rule 4.2.audience = 8.10 At most 1024 characters; ignored.
 */
export const FIELD_LIMITS = { scope: 1024, audience: 1024, resource: 2048 } as const;

/** The parts of a compact JWS (RFC 7515 §7.1). Unverified. */
export interface CompactJws {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: ClaimSet;
  /** The ASCII bytes that the signature covers. */
  readonly signingInput: Buffer;
  readonly signature: Buffer;
}

/** Longer than any honest token; a longer one is refused before anything is decoded. */
export const MAX_TOKEN_CHARACTERS = 65_536;

/**
 * Parses a compact JWS. Anything but a JWT is refused as malformed, before any claim is read (D14).
 * @param options whether other tokens will have the same header
 * @throws OAuthRefusal `token_malformed`
 */
export function parseCompactJws(token: string, { isRemembered = true } = {}): CompactJws {
  if (token.length > MAX_TOKEN_CHARACTERS) throw malformed(`over ${MAX_TOKEN_CHARACTERS} characters`);
  const [header, payload, signature, ...rest] = token.split('.');
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) {
    throw malformed('not three parts');
  }
  return {
    header: isRemembered ? readHeader(header) : jsonObject(header, 'header'),
    payload: jsonObject(payload, 'payload'),
    signingInput: Buffer.from(`${header}.${payload}`, 'latin1'),
    signature: base64url(signature, 'signature'),
  };
}

/** `type/subtype`, or the subtype of `application/` (RFC 6838 §4.2), without parameters. */
const MEDIA_TYPE = /^[a-z\d][\w!#$&^.+-]*(\/[a-z\d][\w!#$&^.+-]*)?$/;

/**
 * The `typ` of a JWS's header in lower case, without the optional `application/` (RFC 7515 §4.1.9). Undefined if there is none.
 * Empty if it is no media type, or has parameters.
 */
export function typeOf({ header: { typ } }: Pick<CompactJws, 'header'>): string | undefined {
  if (typ === undefined) return undefined;
  const name = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : '';
  return MEDIA_TYPE.test(name) ? name : '';
}

/** A bounded cache of parsed headers. */
const rememberedHeaders = new LRUCache<string, CompactJws['header']>({ max: 256 });
const REMEMBERED_CHARACTERS = 512;

/** All tokens of a key have the same header, byte for byte. Caching is safe, because a header is only parsed, not checked. */
function readHeader(part: string): CompactJws['header'] {
  const remembered = rememberedHeaders.get(part);
  if (remembered !== undefined) return remembered;
  const header = Object.freeze(jsonObject(part, 'header'));
  if (part.length > REMEMBERED_CHARACTERS) return header;
  // A copy: a substring would keep the whole token in memory, with its signature.
  rememberedHeaders.set(Buffer.from(part, 'latin1').toString('latin1'), header);
  return header;
}

/** RFC 7519 §7.2: header and claims set of a JWT are JSON objects. */
function jsonObject(part: string, name: string): Record<string, unknown> {
  try {
    const value = parseStrictJsonBytes(base64url(part, name));
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw error instanceof JsonError ? malformed(`${name}: ${error.message}`) : error;
  }
  throw malformed(`the ${name} is not an object`);
}

/**
 * Decodes base64url without padding, in its only canonical form: two spellings of one token would look like two tokens in a log
 * (RFC 7515 §2; RFC 4648 §3.5).
 */
function base64url(part: string, name: string): Buffer {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) throw malformed(`the ${name} is not base64url`);
  return bytes;
}

function malformed(detail: string): OAuthRefusal {
  return new OAuthRefusal('token_malformed', { detail });
}

/** With a callback node:crypto verifies on libuv's thread pool, beside the event loop. */
const verifyBesideEventLoop = promisify(verify);

/**
 * Whether a signature is valid (RFC 7518 §3, RFC 8037 §3.1). ECDSA signatures are `r || s` of fixed length; node:crypto
 * refuses every other length and zero values.
 *
 * Verifying is the largest part of an exchange. On the thread pool it uses another core where one is free.
 */
export async function isSignatureValid(
  algorithm: Algorithm,
  { publicKey }: Pick<TrustedKey, 'publicKey'>,
  signingInput: Buffer,
  signature: Buffer,
): Promise<boolean> {
  if (familyOf(algorithm) === 'RSA-PSS' && !hasLengthOfModulus(signature, publicKey)) return false;
  const { digest, key } = signatureParameters(algorithm, publicKey);
  return verifyBesideEventLoop(digest, signingInput, key, signature);
}

/** The first of several keys, all for the algorithm, that signed a JWS. */
export async function signerAmong<Key extends Pick<TrustedKey, 'publicKey'>>(
  keys: readonly Key[],
  algorithm: Algorithm,
  { signingInput, signature }: CompactJws,
): Promise<Key | undefined> {
  for (const key of keys) if (await isSignatureValid(algorithm, key, signingInput, signature)) return key;
  return undefined;
}

/** RFC 8017 §8.1.2 (1). OpenSSL also accepts a signature without leading zeros, a second spelling of the same token. */
function hasLengthOfModulus(signature: Buffer, { asymmetricKeyDetails }: KeyObject): boolean {
  return signature.length === Math.ceil((asymmetricKeyDetails?.modulusLength ?? 0) / 8);
}

/** How node:crypto signs by one algorithm with one key. */
export interface JwsSigner {
  /** Null if the algorithm has its own. */
  readonly digest: string | null;
  /** ECDSA needs `dsaEncoding: 'ieee-p1363'`, for the signature of RFC 7518 §3.4: `r || s`. */
  readonly key: SignKeyObjectInput;
}

/**
 * Signs a payload under a header, whose `alg` must be the signer's. On the event loop: a trip to another thread costs more
 * than it saves (bench/performance.md).
 */
export function signCompactJws(header: object, payload: object, { digest, key }: JwsSigner): string {
  const signingInput = `${encoded(header)}.${encoded(payload)}`;
  return `${signingInput}.${sign(digest, Buffer.from(signingInput, 'latin1'), key).toString('base64url')}`;
}

/** The number of characters of such a JWS. @param signatureBytes length of the algorithm's signatures */
export function lengthOfCompactJws(header: object, payload: object, signatureBytes: number): number {
  const bytes = [header, payload].map((part) => Buffer.byteLength(JSON.stringify(part)));
  return [...bytes, signatureBytes].reduce((sum, count) => sum + Math.ceil((count * 4) / 3), 2);
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}
