// What the module is told at registration: plain, checked values.
import type { TrustedKeyEntry } from './keys/trusted-key.js';

/** Roles as the host names them; the rules about them are this module's (4.4). */
export interface RoleNames {
  /** Roles that a `role` claim may assign. */
  readonly assignable: readonly string[];
  /** The role that is never assigned, changed or taken away. */
  readonly owner: string;
  /** The role of a new user without a role claim. */
  readonly initial: string;
}

export interface TokenExchangeOptions {
  readonly trustedKeys: readonly TrustedKeyEntry[];
  readonly roles: RoleNames;
  readonly embedLogin: { readonly enabled: boolean; readonly perMinute: number };
  readonly exchange: {
    readonly enabled: boolean;
    readonly perMinute: number;
    /** Upper bound of an issued token's life, in seconds; 5 to 86,400. */
    readonly maxTokenLifetimeSeconds: number;
  };
  /** Tolerance for `nbf` and a future `iat`, in seconds; 0 to 60. */
  readonly clockToleranceSeconds: number;
  readonly replayPurge: { readonly intervalSeconds: number; readonly batchSize: number };
  readonly jwks: {
    readonly refreshIntervalSeconds: number;
    readonly maxStaleSeconds: number;
    readonly allowHttp: boolean;
    readonly allowPrivate: readonly string[];
  };
  /** Whether the licence still holds at this moment; asked on every request. */
  isLicensed(): boolean;
}

/** Injection token of the options. */
export const TOKEN_EXCHANGE_OPTIONS = Symbol('TOKEN_EXCHANGE_OPTIONS');
