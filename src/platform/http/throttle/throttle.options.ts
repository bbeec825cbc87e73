// What the throttles are told at registration.

export interface ThrottleOptions {
  /** `memory`: each instance counts for itself; `database`: all instances on one database count together. */
  readonly store: 'memory' | 'database';
  /**
   * Whether requests will be given back (P.perMinute). A client over its limit is then asked for anew after a second, since other
   * instances may have given its requests back, and what is refused is not counted. Default: from the first that is given back.
   */
  readonly givesBack?: boolean;
  /** Called for each request that was let through uncounted because the database did not answer; for a metric. */
  readonly onFailOpen?: () => void;
}

/** Injection token of the options. */
export const THROTTLE_OPTIONS = Symbol('THROTTLE_OPTIONS');
