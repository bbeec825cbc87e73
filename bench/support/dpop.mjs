// Proofs of possession (RFC 9449). They are created before the requests are sent.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
const HEADER = base64url(JSON.stringify({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } }));

/**
 * A new proof with the benchmark's only key.
 * @param accessToken the API call's token; undefined for other requests
 */
export function proofFor({ server: { origin } }, method, path, accessToken) {
  // The service's public URL has the host localhost, but clients connect to an IP address.
  const target = new URL(path, origin);
  target.hostname = 'localhost';
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: target.href,
    iat: Math.floor(Date.now() / 1000),
    ath: accessToken && createHash('sha256').update(accessToken).digest('base64url'),
  };
  const input = `${HEADER}.${base64url(JSON.stringify(claims))}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

function base64url(text) {
  return Buffer.from(text).toString('base64url');
}
