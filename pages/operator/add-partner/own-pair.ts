// A key pair that the browser creates. The private key stays in the page.
import { ProofKey } from '../../shared/proof-key.js';

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
  const keys = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const { thumbprint: kid } = await ProofKey.of(keys);
  return {
    kid,
    algorithm: 'ES256',
    publicKey: pem('PUBLIC KEY', await subtle.exportKey('spki', keys.publicKey)),
    privateKey: pem('PRIVATE KEY', await subtle.exportKey('pkcs8', keys.privateKey)),
  };
}

function pem(label: string, der: ArrayBuffer): string {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(der)));
  const lines = base64.match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
