// What the access tokens of this package are told.

export interface AccessTokenOptions {
  /** `iss` and `aud` of every token: the origin of the host's API. */
  readonly issuer: string;
}

/** Injection token of the options. */
export const ACCESS_TOKEN_OPTIONS = Symbol('ACCESS_TOKEN_OPTIONS');
