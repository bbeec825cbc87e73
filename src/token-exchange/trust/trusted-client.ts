// A client that a trusted key entry lets send identity assertions.
import type { JwksKey } from './jwks-content.js';

/** What a client authenticates by: its public keys, in the entry or fetched, or the SHA-256 of its secret in hexadecimal digits. */
export type ClientCredential =
  { readonly keys: readonly JwksKey[] } | { readonly jwksUrl: string } | { readonly secretHash: string };

export type TrustedClient = ClientCredential & { readonly id: string };
