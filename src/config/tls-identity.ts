// Reads certificate and key for HTTPS.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { pemFault } from '../platform/text/pem-fault.js';
import { VARIABLES } from './environment.js';
import type { ConfigReading } from './load-config.js';
import { labelOf, pathHint } from './load-config.js';

/** A certificate with its chain, and its private key, in PEM. */
export interface TlsIdentity {
  readonly cert: string;
  /** Secret. */
  readonly key: string;
}

/** The identity, or the problems. With problems the process must not start. They never contain PEM. */
interface TlsReading {
  readonly identity?: TlsIdentity;
  readonly problems: readonly string[];
}

/**
 * Certificate and key must both be given, or neither, and must match.
 * @param given the variables that are set. A variable that is set but unreadable is not reported as missing
 */
export function readTlsIdentity(
  cert: string | undefined,
  key: string | undefined,
  given: ConfigReading['given'] = new Map(),
): TlsReading {
  const problems = [...missing(cert, key, given), ...faults(cert, key, given)];
  if (cert === undefined || key === undefined || problems.length > 0) return { problems };
  return { identity: { cert, key }, problems };
}

function* missing(
  cert: string | undefined,
  key: string | undefined,
  given: ConfigReading['given'],
): Generator<string> {
  if (cert === undefined && key !== undefined && !given.has('SVC_SSL_CERT'))
    yield 'SVC_SSL_CERT: is required with SVC_SSL_KEY';
  if (key === undefined && cert !== undefined && !given.has('SVC_SSL_KEY'))
    yield 'SVC_SSL_KEY: is required with SVC_SSL_CERT';
}

function* faults(
  cert: string | undefined,
  key: string | undefined,
  given: ConfigReading['given'],
): Generator<string> {
  const certificate = cert === undefined ? undefined : readOrNothing(() => new X509Certificate(cert));
  const privateKey = key === undefined ? undefined : readOrNothing(() => createPrivateKey(key));
  const [certLabel, keyLabel] = [VARIABLES.tlsCertificate, VARIABLES.tlsKey].map((variable) =>
    labelOf(variable, given),
  );
  if (cert !== undefined && certificate === undefined)
    yield `${certLabel}: must be a PEM certificate: it ${pemFault(cert, 'certificate')}${pathHint(VARIABLES.tlsCertificate, cert)}`;
  if (key !== undefined && privateKey === undefined)
    yield `${keyLabel}: must be a PEM private key without a passphrase: it ${pemFault(key, 'private key')}${pathHint(VARIABLES.tlsKey, key)}`;
  if (certificate === undefined || privateKey === undefined) return;
  if (!certificate.checkPrivateKey(privateKey))
    yield `${keyLabel}: is not the key of the certificate in SVC_SSL_CERT`;
}

function readOrNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
