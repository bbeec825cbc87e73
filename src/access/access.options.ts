// What the access module is told at registration.
import type { BearerReason } from '../token-exchange/plain.js';

/** Where access tokens are issued. */
export interface TokenEndpoint {
  readonly path: string;
  /** The one grant that it takes. */
  readonly grantType: string;
  /** Where access tokens are ended by those who hold them. */
  readonly revocationPath: string;
}

export interface AccessOptions {
  /** Origin of the instance: `iss` and `aud` of access tokens, and the only origin that sessions may write from. */
  readonly baseUrl: string;
  /** The scopes that access tokens for this instance can be limited to. */
  readonly scopes: readonly string[];
  /** Undefined while none answers: a licence may run out while the service runs. */
  readonly tokenEndpoint: () => TokenEndpoint | undefined;
  /** Called for each Bearer credential that is refused; for a metric. */
  readonly onBearerRefused: (reason: BearerReason) => void;
}

/** Injection token of the options. */
export const ACCESS_OPTIONS = Symbol('ACCESS_OPTIONS');
