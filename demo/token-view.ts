// Shows tokens safely: decoded header and claims, never a signature or a whole token.
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Members } from './partner.js';

export interface DecodedToken {
  header: Members;
  claims: Members;
}

const COMPACT_JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The token's header and claims; undefined if the string is not a JWT. Nothing is verified. */
export function decodeToken(text: unknown): DecodedToken | undefined {
  if (typeof text !== 'string' || !COMPACT_JWT.test(text)) return undefined;
  try {
    return { header: { ...decodeProtectedHeader(text) }, claims: decodeJwt(text) };
  } catch {
    return undefined;
  }
}

/** The header segment of a token and an ellipsis. Other strings stay as they are. */
export function shortenToken(text: string): string {
  return COMPACT_JWT.test(text) ? `${text.split('.', 1)[0]}.…` : text;
}

/** A JSON value in which every token is shortened. */
export function withShortTokens(value: unknown): unknown {
  if (typeof value === 'string') return shortenToken(value);
  if (Array.isArray(value)) return value.map(withShortTokens);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withShortTokens(member)]));
}
