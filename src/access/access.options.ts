// What the access module is told at registration.

export interface AccessOptions {
  /** Origin of the instance: `iss` and `aud` of access tokens, and the only origin that sessions may write from. */
  readonly baseUrl: string;
  /** Life of a session, in seconds; 60 to 86,400. */
  readonly sessionLifetimeSeconds: number;
  readonly partitionedCookie: boolean;
}

/** Injection token of the options. */
export const ACCESS_OPTIONS = Symbol('ACCESS_OPTIONS');
