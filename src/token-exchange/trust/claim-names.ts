// The claims that are read here under a name of their own, beside that of projects, which each entry chooses.

export const CLAIM_NAMES = [
  // RFC 7519 §4.1
  ...(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti'] as const),
  // Users, sessions and actors: OpenID Connect Core 1.0 §5.1 and Back-Channel Logout 1.0 §2.4, RFC 8693 §4, RFC 7800
  ...(['email', 'email_verified', 'given_name', 'family_name', 'role', 'sid', 'events', 'nonce'] as const),
  ...(['act', 'may_act', 'cnf'] as const),
  // Entra ID's name of `jti`, the question about a refusal, and the time of an event (RFC 8417 §2.2)
  ...(['uti', 'request_id', 'toe'] as const),
  // Identity assertions
  ...(['client_id', 'scope', 'resource', 'authorization_details'] as const),
  ...(['tenant', 'aud_tenant', 'aud_sub', 'sub_id'] as const),
] as const;

export type ClaimName = (typeof CLAIM_NAMES)[number];

/** A JWT claims set (RFC 7519 §7.2), as it was parsed: a claim that is not in the list cannot be read from it. */
export type ClaimSet = Readonly<Partial<Record<ClaimName, unknown>>>;
