// What the start has read and checked, which every module takes its settings from.
import type { TrustedKeyEntry } from '../token-exchange/instance.js';
import type { License } from './license.js';
import type { Config, Given } from './load-config.js';
import type { TlsIdentity } from './tls-identity.js';

/** The plain, checked values for the application. */
export interface Startup {
  readonly config: Config;
  /** Where each variable was found that was set. */
  readonly given: ReadonlyMap<string, Given>;
  readonly license: License;
  readonly trustedKeys: readonly TrustedKeyEntry[];
  /** With it the service serves HTTPS. */
  readonly tls?: TlsIdentity;
  /** What an operator should know, although the service starts. */
  readonly warnings: readonly string[];
  /** Effects of the configuration that its author may not expect. */
  readonly notes: readonly string[];
}

/** Injection token of a `Startup`. */
export const STARTUP = Symbol('STARTUP');
