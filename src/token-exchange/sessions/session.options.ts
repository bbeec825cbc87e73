// What the sessions of this package are told.

export interface SessionOptions {
  /** Life of a session, in seconds; 60 to 86,400. */
  readonly sessionLifetimeSeconds: number;
  /** Live sessions of one user at most: with one more the oldest ends; 1 to 10,000. */
  readonly maxSessionsPerUser: number;
  /** Whether the cookie is bound to the site that frames the host (CHIPS). */
  readonly partitionedCookie: boolean;
  /** Begins with `__Host-`. Default `__Host-svc-session`. */
  readonly cookieName?: string;
}

/** Injection token of the options. */
export const SESSION_OPTIONS = Symbol('SESSION_OPTIONS');
