// Options of the JWKS provider: its entries and the limits of fetching.
import type { JwksSettings } from '../../settings/token-exchange.options.js';
import type { JwksEntry } from '../trusted-key.js';

export interface JwksOptions extends JwksSettings {
  readonly entries: readonly JwksEntry[];
}

/** Injection token of the options. */
export const JWKS_OPTIONS = Symbol('JWKS_OPTIONS');
