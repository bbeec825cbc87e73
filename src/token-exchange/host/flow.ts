// The purposes of an external token.

/**
 * `embed`: an external token for a session. `exchange`: one, or a subject's and an actor's, for an access token. `id-jag`: an
 * identity assertion (ID-JAG), which an authenticated client sends, for an access token. `jwt-bearer`: an external token as the
 * assertion of RFC 7523, for an access token. `logout`: a logout token, which ends what was opened by earlier tokens.
 */
export type Flow = 'embed' | 'exchange' | 'id-jag' | 'jwt-bearer' | 'logout';

/** The flows that give access. */
export type AccessFlow = Exclude<Flow, 'logout'>;

/** The flows of assertions (RFC 7523): the token endpoint takes them beside exchanges. */
export type AssertionFlow = 'id-jag' | 'jwt-bearer';

export function isOfAssertion(flow: string): flow is AssertionFlow {
  return flow === 'id-jag' || flow === 'jwt-bearer';
}
