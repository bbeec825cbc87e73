// Options of the throttles at registration.

export interface ThrottleOptions {
  /** `memory`: each instance counts for itself; `database`: all instances on one database count together. */
  readonly store: 'memory' | 'database';
  /** Called for each request that was let through uncounted because the database did not answer; for a metric. */
  readonly onFailOpen?: () => void;
}

/** Injection token of the options. */
export const THROTTLE_OPTIONS = Symbol('THROTTLE_OPTIONS');
