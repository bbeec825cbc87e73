// The two ways into the service.

/** `embed`: an external token for a session. `exchange`: one, or a subject's and an actor's, for an access token. */
export type Flow = 'embed' | 'exchange';
