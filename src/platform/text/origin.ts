// Reads web origins (RFC 6454): a scheme and a host, maybe a port, and nothing else; and compares addresses.
import { parsedUrl } from './url.js';

/** The origin as browsers write it; undefined when the text is not an `http:` or `https:` origin. */
export function originOfText(text: string): string | undefined {
  const url = parsedUrl(text);
  const isOrigin =
    url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, '');
  return isOrigin ? url.origin : undefined;
}

/** Whether two addresses are one, however they are written: letter case of the host, usual port, slash after the host. */
export function isSameAddress(one: string, other: string): boolean {
  return hrefOf(one) === hrefOf(other);
}

function hrefOf(text: string): string {
  return parsedUrl(text)?.href ?? text;
}
