// The names of keys in the log: those of RFC 7638, made once.
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { thumbprintOf } from '../../../../src/token-exchange/trust/algorithms.js';

/** The key of RFC 7638 §3.1. */
const EXAMPLE = {
  kty: 'RSA',
  n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw',
  e: 'AQAB',
};

it('[D77] is that of the example of RFC 7638', async () => {
  const key = createPublicKey({ key: EXAMPLE, format: 'jwk' });
  expect(await thumbprintOf(key)).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs');
});

it('[D77] is made once for each key', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  expect(thumbprintOf(publicKey)).toBe(thumbprintOf(publicKey));
});

it('[D77] is missing for a key that cannot be written as a JWK', async () => {
  const { publicKey } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
  expect(await thumbprintOf(publicKey)).toBeUndefined();
});
