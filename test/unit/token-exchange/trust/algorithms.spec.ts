// Which algorithms there are, which keys fit them, and the names of keys in the log.
import type { KeyObject } from 'node:crypto';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { Algorithm } from '../../../../src/token-exchange/trust/algorithms.js';
import {
  ALGORITHMS,
  algorithmsFitting,
  isAlgorithm,
  newPrivateKey,
  thumbprintOf,
} from '../../../../src/token-exchange/trust/algorithms.js';

const RS: Algorithm[] = ['RS256', 'RS384', 'RS512'];
const PS: Algorithm[] = ['PS256', 'PS384', 'PS512'];

it('[2.1.supported] exactly the ten algorithms of the specification are supported', () => {
  expect(ALGORITHMS).toEqual([...RS, ...PS, 'ES256', 'ES384', 'ES512', 'EdDSA']);
  expect(ALGORITHMS.filter((algorithm) => !isAlgorithm(algorithm))).toEqual([]);
});

it.each([
  ...['HS256', 'HS384', 'HS512', 'none', 'None', 'NONE', 'nOnE', '', ' ', 'none ', 'no\u0000ne'],
  ...['rs256', 'Rs256', 'RS256 ', ' RS256', '\tRS256', 'RS256\n', 'RS1', 'RS128', 'ES256K', 'ES257'],
  ...['Ed25519', 'EDDSA', 'eddsa', 'EdDSA ', 'RSA-OAEP', 'A128KW', 'dir', 'ML-DSA-44'],
  ...['toString', 'constructor', '__proto__', 'hasOwnProperty'],
  ...[undefined, null, 0, true, ['RS256'], { alg: 'RS256' }],
])('[5.2.2] %p is not an algorithm', (value) => expect(isAlgorithm(value)).toBe(false));

describe('keys', () => {
  const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).publicKey;
  const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey;
  /** The parameters go in as an object of no known members: @types/node takes the salt's length for a text. */
  const pss = (parameters: object = {}) =>
    generateKeyPairSync('rsa-pss', { modulusLength: 2048, ...parameters }).publicKey;
  const bound = (hashAlgorithm: string, saltLength: number, mgf1HashAlgorithm = hashAlgorithm) =>
    pss({ hashAlgorithm, mgf1HashAlgorithm, saltLength });

  it.each<[string, () => KeyObject, string[]]>([
    ['RSA of 2048 bits', () => rsa(2048), [...RS, ...PS]],
    ['RSA of 2040 bits', () => rsa(2040), []],
    ['RSA-PSS without parameters', () => pss(), PS],
    ['RSA-PSS bound to SHA-256', () => bound('sha256', 32), ['PS256']],
    ['RSA-PSS bound to SHA-384', () => bound('sha384', 48), ['PS384']],
    ['RSA-PSS bound to SHA-1', () => bound('sha1', 20), []],
    // RFC 7518 §3.5: the salt is as long as the digest, and MGF1 uses the same digest.
    ['RSA-PSS bound to a longer salt', () => bound('sha256', 33), []],
    ['RSA-PSS bound to MGF1 with SHA-1', () => bound('sha256', 32, 'sha1'), []],
    ['P-256', () => ec('P-256'), ['ES256']],
    ['P-384', () => ec('P-384'), ['ES384']],
    ['P-521', () => ec('P-521'), ['ES512']],
    ['secp256k1', () => ec('secp256k1'), []],
    ['Ed25519', () => generateKeyPairSync('ed25519').publicKey, ['EdDSA']],
    ['X25519', () => generateKeyPairSync('x25519').publicKey, []],
    ['DSA', () => generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }).publicKey, []],
  ])('[2.1.static.algorithms] %s fits exactly the algorithms that it can verify', (_, key, algorithms) => {
    expect(algorithmsFitting(key())).toEqual(algorithms);
  });
});

it.each<[Algorithm, number | undefined, Algorithm[]]>([
  ['RS256', 3072, [...RS, ...PS]],
  ['PS512', 3072, [...RS, ...PS]],
  ['ES256', undefined, ['ES256']],
  ['ES384', undefined, ['ES384']],
  ['ES512', undefined, ['ES512']],
  ['EdDSA', undefined, ['EdDSA']],
])('[2.1.supported] a new private key for %s, of RSA with %p bits, fits %p', (algorithm, bits, fitting) => {
  const key = newPrivateKey(algorithm);
  expect(key.type).toBe('private');
  expect(key.asymmetricKeyDetails?.modulusLength).toBe(bits);
  expect(algorithmsFitting(createPublicKey(key))).toEqual(fitting);
});

it("[D77] a key's thumbprint matches the RFC 7638 §3.1 example; a key without a JWK form has none", async () => {
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';
  const key = createPublicKey({ key: { kty: 'RSA', e: 'AQAB', n }, format: 'jwk' });
  expect(await thumbprintOf(key)).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs');
  const { publicKey } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
  expect(await thumbprintOf(publicKey)).toBeUndefined();
});
