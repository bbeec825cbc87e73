// What the API needs to know of the instance.
import type { LicenseFeature } from '../../config/license.js';

export interface ApiOptions {
  /** Whether the licence has the feature now: it may run out while the service runs. */
  readonly isLicensed: (feature: LicenseFeature) => boolean;
  /** Calls of the API that one caller may make within a minute of the first; 1 to 1,000,000. */
  readonly callsPerMinute: number;
  /** Called for each call that was refused because its caller was over the limit; for a metric. */
  readonly onThrottled: () => void;
}

/** Injection token of the options. */
export const API_OPTIONS = Symbol('API_OPTIONS');
