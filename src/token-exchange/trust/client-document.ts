// Reads a client ID metadata document (draft-ietf-oauth-client-id-metadata-document): whose it is, and where its keys are.
import { JsonError, isJsonObject, parseStrictJsonBytes } from '../../platform/json/strict-json.js';
import { JwksContentError } from './jwks-content.js';
import { parsedUrl } from '../../platform/text/url.js';

/** A key set in the document, as it would be fetched; or its address. */
export type ClientKeySet = { readonly jwks: Uint8Array } | { readonly jwksUri: string };

/**
 * @param url where the document was fetched, which is the id of its client
 * @throws JwksContentError where it is not the document of that client, or has no keys to authenticate by
 */
export function readClientDocument(bytes: Uint8Array, url: string): ClientKeySet {
  const { client_id: id, token_endpoint_auth_method: method, jwks, jwks_uri: jwksUri } = parsed(bytes);
  if (id !== url) throw new JwksContentError('the client_id of the metadata document is not its address');
  if (method !== 'private_key_jwt')
    throw new JwksContentError('token_endpoint_auth_method of the metadata document is not private_key_jwt');
  // RFC 7591 §2: not both.
  if (jwks !== undefined && jwksUri === undefined) return { jwks: Buffer.from(JSON.stringify(jwks)) };
  if (jwks === undefined && typeof jwksUri === 'string' && parsedUrl(jwksUri)) return { jwksUri };
  throw new JwksContentError('the metadata document must have either jwks or the URL jwks_uri');
}

function parsed(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const document = parseStrictJsonBytes(bytes);
    if (isJsonObject(document)) return document;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new JwksContentError('the metadata document is no JSON object');
}
