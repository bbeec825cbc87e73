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

/** Schemes of the URL standard for networks and files, and those that browsers give a meaning of their own. */
const NO_APP = /^(https?|ftp|file|wss?|blob|data|about|javascript|filesystem|view-source)$/;
/** An origin of a program with a web view, as that writes it: `capacitor://localhost`. Neither `*` nor what ends a source or a directive. */
const APP_ORIGIN = /^([a-z][a-z\d+.-]*):\/\/[a-z\d._-]+(:\d{1,5})?$/;

/** The origin of a page as browsers and apps write it; undefined if the text is none. */
export function pageOrigin(text: string): string | undefined {
  const [, scheme] = APP_ORIGIN.exec(text) ?? [];
  return scheme === undefined || NO_APP.test(scheme) ? originOfText(text) : text;
}

/**
 * The longest lists of origins, with spaces between them: of the setting, and of all entries, configured and stored. A header of every
 * answer names all origins, and proxies and clients, such as those in Node.js, accept headers of 16 KiB in all.
 */
export const MOST_ORIGINS_CHARACTERS = { setting: 4_000, entries: 8_000 } as const;

/** Whether origins are more than a header should name. */
export function areTooManyOrigins(
  origins: Iterable<string>,
  of: keyof typeof MOST_ORIGINS_CHARACTERS,
): boolean {
  return [...new Set(origins)].join(' ').length > MOST_ORIGINS_CHARACTERS[of];
}
