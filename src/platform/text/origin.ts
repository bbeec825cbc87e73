// Reads web origins (RFC 6454): a scheme and a host, maybe a port, and nothing else; and limits lists of them.
import { parsedUrl } from './url.js';

/** Without the further characters that the URL standard takes: in a policy of the browser `*` would be any host, and `;` end a directive. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])$/;

/** The origin as browsers write it; undefined when the text is not an `http:` or `https:` origin. */
export function originOfText(text: string): string | undefined {
  const url = parsedUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol) || !HOST.test(url.hostname)) return undefined;
  return url.origin === text.replace(/\/$/, '') ? url.origin : undefined;
}

/**
 * Of the origins of the setting together, of those of all configured entries together, and of those of all stored ones together. A header
 * of every answer names them all, and proxies and clients, such as those in Node.js, take headers of 16 KiB in all.
 */
export const MOST_ORIGINS_CHARACTERS = 4_000;

/** Whether origins are more than a header should name. */
export function areTooManyOrigins(origins: ReadonlySet<string>): boolean {
  return [...origins].join(' ').length > MOST_ORIGINS_CHARACTERS;
}
