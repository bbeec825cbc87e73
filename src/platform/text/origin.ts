// Parses web origins (RFC 6454): a scheme, a host and an optional port, nothing else. Limits lists of them.
import { parsedUrl } from './url.js';

/**
 * Excludes other characters that the URL standard allows: in a browser's policy, `*` would match any host and
 * `;` would end a directive.
 */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])$/;

/** The origin as browsers write it; undefined if the string is not an `http:` or `https:` origin. */
export function originOfText(text: string): string | undefined {
  const url = parsedUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol) || !HOST.test(url.hostname)) return undefined;
  return url.origin === text.replace(/\/$/, '') ? url.origin : undefined;
}

/** Network and file schemes of the URL standard, and schemes with a special meaning in browsers. */
const NO_APP = /^(https?|ftp|file|wss?|blob|data|about|javascript|filesystem|view-source)$/;
/**
 * The origin of an app with a web view, as the app writes it: `capacitor://localhost`. Excludes `*` and
 * characters that end a source or a directive.
 */
const APP_ORIGIN = /^([a-z][a-z\d+.-]*):\/\/[a-z\d._-]+(:\d{1,5})?$/;

/** A page's origin as browsers and apps write it; undefined if the string is not an origin. */
export function pageOrigin(text: string): string | undefined {
  const [, scheme] = APP_ORIGIN.exec(text) ?? [];
  return scheme === undefined || NO_APP.test(scheme) ? originOfText(text) : text;
}

/**
 * The maximum length of a list of origins separated by spaces: of the setting, and of all configured and
 * stored entries. A header of every response lists all origins. Proxies and clients, such as Node.js, accept
 * 16 KiB of headers in total.
 */
export const MAX_ORIGINS_CHARACTERS = { setting: 4_000, entries: 8_000 } as const;

/** Whether there are more origins than a header should list. */
export function areTooManyOrigins(
  origins: Iterable<string>,
  of: keyof typeof MAX_ORIGINS_CHARACTERS,
): boolean {
  return [...new Set(origins)].join(' ').length > MAX_ORIGINS_CHARACTERS[of];
}
