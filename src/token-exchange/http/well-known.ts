// Where is published what others must know of the access tokens (RFC 8615).

export const WELL_KNOWN = '.well-known';
export const KEY_SET = 'jwks.json';
/** RFC 9728 §3. */
export const RESOURCE_METADATA = 'oauth-protected-resource';
/** RFC 8414 §3, and OpenID Connect's address, where many clients ask only. */
export const SERVER_METADATA = ['oauth-authorization-server', 'openid-configuration'];
export const SERVER_METADATA_PATHS = SERVER_METADATA.map((name) => `/${WELL_KNOWN}/${name}`);
export const KEY_SET_PATH = `/${WELL_KNOWN}/${KEY_SET}`;
export const RESOURCE_METADATA_PATH = `/${WELL_KNOWN}/${RESOURCE_METADATA}`;
