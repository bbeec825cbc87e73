// The validated input of the start, from which all modules take their settings.
import type { TrustedKeyEntry } from '../token-exchange/instance.js';
import type { License } from './license.js';
import type { Config, Given } from './load-config.js';
import type { TlsIdentity } from './tls-identity.js';

export interface Startup {
  readonly config: Config;
  readonly given: ReadonlyMap<string, Given>;
  readonly license: License;
  readonly trustedKeys: readonly TrustedKeyEntry[];
  /** If present, the service uses HTTPS. */
  readonly tls?: TlsIdentity;
  /** Warnings for the operator, with which the service still starts. */
  readonly warnings: readonly string[];
}

export const STARTUP = Symbol('STARTUP');
