// The purposes of an external token.

/**
 * `embed`: an external token for a session. `exchange`: one, or a subject's and an actor's, for an access token. `id-jag`: an
 * identity assertion (ID-JAG), which an authenticated client sends, for an access token. `jwt-bearer`: an external token as the
 * assertion of RFC 7523, for an access token. `logout`: a logout token, which ends what was opened by earlier tokens.
 */
export type Flow = 'embed' | 'exchange' | 'id-jag' | 'jwt-bearer' | 'logout';

/** The flows that give access. */
export type AccessFlow = Exclude<Flow, 'logout'>;
