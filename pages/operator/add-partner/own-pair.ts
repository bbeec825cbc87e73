// A key pair that the browser creates. The private key stays in the page.

export interface OwnPair {
  /** The thumbprint (RFC 7638). */
  kid: string;
  algorithm: 'ES256';
  /** PEM. */
  publicKey: string;
  /** PEM. It is shown, and never sent. */
  privateKey: string;
}

export async function newPair(): Promise<OwnPair> {
  const { subtle } = crypto;
  const how = { name: 'ECDSA', namedCurve: 'P-256' };
  const { privateKey, publicKey } = await subtle.generateKey(how, true, ['sign', 'verify']);
  const { crv, kty, x, y } = await subtle.exportKey('jwk', publicKey);
  const input = new TextEncoder().encode(JSON.stringify({ crv, kty, x, y }));
  return {
    kid: base64(await subtle.digest('SHA-256', input))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', ''),
    algorithm: 'ES256',
    publicKey: pem('PUBLIC KEY', await subtle.exportKey('spki', publicKey)),
    privateKey: pem('PRIVATE KEY', await subtle.exportKey('pkcs8', privateKey)),
  };
}

function pem(label: string, der: ArrayBuffer): string {
  const lines = base64(der).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

function base64(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}
