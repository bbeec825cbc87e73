// Options of the access module.
import type { MetadataOptions } from '../token-exchange/instance.js';
import type { BearerReason } from '../token-exchange/plain.js';

export interface AccessOptions extends MetadataOptions {
  /** The origin of the instance is also the only one that sessions may write from. */
  readonly baseUrl: string;
  /** Called for each Bearer credential that is refused; for a metric. */
  readonly onBearerRefused: (reason: BearerReason) => void;
}

/** Injection token of the options. */
export const ACCESS_OPTIONS = Symbol('ACCESS_OPTIONS');
