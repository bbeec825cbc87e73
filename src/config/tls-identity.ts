// Reads the certificate and key with which the service serves HTTPS by itself.
import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** A certificate, with its chain, and the private key that belongs to it, in PEM. */
export interface TlsIdentity {
  readonly cert: string;
  /** Secret. */
  readonly key: string;
}

/** What was read; with problems the process must not start. Neither PEM text ever appears in one. */
export interface TlsReading {
  readonly identity?: TlsIdentity;
  readonly problems: readonly string[];
}

/** Both or neither must be given, and they must belong together. */
export function readTlsIdentity(cert: string | undefined, key: string | undefined): TlsReading {
  if (cert === undefined && key === undefined) return { problems: [] };
  if (cert === undefined) return { problems: ['SVC_SSL_CERT: is required with SVC_SSL_KEY'] };
  if (key === undefined) return { problems: ['SVC_SSL_KEY: is required with SVC_SSL_CERT'] };
  const certificate = readOrNothing(() => new X509Certificate(cert));
  const privateKey = readOrNothing(() => createPrivateKey(key));
  const problems = [...problemsOf(certificate, privateKey)];
  return problems.length > 0 ? { problems } : { identity: { cert, key }, problems };
}

function* problemsOf(certificate: X509Certificate | undefined, key: KeyObject | undefined) {
  if (certificate === undefined) yield 'SVC_SSL_CERT: must be a PEM certificate';
  if (key === undefined) yield 'SVC_SSL_KEY: must be a PEM private key without a passphrase';
  if (certificate === undefined || key === undefined) return;
  if (!certificate.checkPrivateKey(key))
    yield 'SVC_SSL_KEY: is not the key of the certificate in SVC_SSL_CERT';
}

function readOrNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
