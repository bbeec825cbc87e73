// Options of the access module.
import type { MetadataOptions } from '../token-exchange/instance.js';
import type { BearerReason } from '../token-exchange/plain.js';

export interface AccessOptions extends MetadataOptions {
  /** The origin of the instance is also the only one that sessions may write from. */
  readonly baseUrl: string;
  /** Called for each Bearer credential that is refused; for a metric. */
  readonly onBearerRefused: (reason: BearerReason) => void;
  /** Whether each DPoP proof needs a nonce. */
  readonly dpopNonce: boolean;
  /** Called for each proof of a call that is forgotten while it could be sent again; for a metric. */
  readonly onProofForgotten: () => void;
}

/** Injection token of the options. */
export const ACCESS_OPTIONS = Symbol('ACCESS_OPTIONS');
