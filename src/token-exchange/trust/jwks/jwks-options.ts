// Options of the JWKS provider: its entries and the limits of fetching.
import type { JwksSettingNames } from '../jwks-url.js';
import type { JwksEntry } from '../trusted-key.js';

export interface JwksOptions {
  readonly entries: readonly JwksEntry[];
  /** Time to the next fetch where neither the answer nor the entry names one, in seconds; 1 to 86,400. */
  readonly refreshIntervalSeconds: number;
  /** How long keys serve past their time while the endpoint fails, in seconds. */
  readonly maxStaleSeconds: number;
  /** Allows `http:` and loopback addresses. */
  readonly allowHttp: boolean;
  /** CIDR ranges that are not public and yet allowed. */
  readonly allowPrivate: readonly string[];
  /** Default: `JWKS_SETTING_NAMES`. */
  readonly settingNames?: JwksSettingNames;
}

/** Injection token of the options. */
export const JWKS_OPTIONS = Symbol('JWKS_OPTIONS');
