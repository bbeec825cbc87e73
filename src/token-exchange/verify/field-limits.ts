// How long may be what a client, or an assertion, asks for: the access token and the trail repeat it.

/**
 * Most characters of the fields that have a limit (8.9 to 8.11); a character is a code point.
 * @rule 4.2.scope = 8.9 At most 1024 characters.
 * @rule 4.2.audience = 8.10 At most 1024 characters; ignored.
 */
export const FIELD_LIMITS = { scope: 1024, audience: 1024, resource: 2048 } as const;
