// Where the two flows answer (4.1, 4.2); behind a prefix, if the host has one.

/** The token endpoint. */
export const TOKEN_PATH = '/rest/auth/oauth/token';

/** Token revocation. */
export const REVOCATION_PATH = '/rest/auth/oauth/revoke';

/** Embedded login. */
export const EMBED_PATH = '/rest/auth/embed';
