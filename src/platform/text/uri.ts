// Compares URIs according to RFC 3986 §6.2.2 and §6.2.3.
import { parsedUrl } from './url.js';

/**
 * Scheme, authority, path and the rest (RFC 3986, appendix B). Excludes spaces, backslashes and other
 * characters that URIs must not contain.
 */
const PARTS = /^([a-z][a-z\d+.-]*):(?:\/\/([^/?#]*))?([^?#]*)([?#].*)?$/i;
const CHARACTERS = /^[!-[\]-~]+$/;
/** User, host and port. */
const AUTHORITY = /^(.*@)?(\[[^\]@]*\]|[^:@[\]]*)(?::(\d*))?$/;
const USUAL_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443' };

/**
 * Whether two strings are the same URI. Ignores the case of scheme and host, encoded letters, dot segments,
 * the default port, and `/` instead of an empty path. Other strings are compared character by character.
 * Names are not mapped as browsers do.
 */
export function isSameUri(one: string, other: string): boolean {
  return one === other || canonicalUri(one) === canonicalUri(other);
}

/** The canonical spellings of a list. Lists of entries never change and live as long as the entries. */
const spellings = new WeakMap<ReadonlySet<string>, ReadonlyMap<string, string>>();

/** The list's spelling of a URI; undefined if the URI is not in the list. */
export function spellingIn(list: ReadonlySet<string>, uri: string): string | undefined {
  if (list.has(uri)) return uri;
  const known = spellings.get(list) ?? new Map([...list].map((one) => [canonicalUri(one), one]));
  spellings.set(list, known);
  return known.get(canonicalUri(uri));
}

/** Whether any reader may take a string for an address, by RFC 3986 or like a browser. Only for refusals. */
export function mayMean(text: string, address: string): boolean {
  const asBrowsersRead = (url: string) => parsedUrl(url)?.href ?? url;
  return isSameUri(text, address) || asBrowsersRead(text) === asBrowsersRead(address);
}

/** The canonical spelling of a URI; other strings are returned unchanged. */
export function canonicalUri(text: string): string {
  const parts = CHARACTERS.test(text) ? PARTS.exec(text) : null;
  const [, name, authority, path = '', rest = ''] = parts ?? [];
  if (name === undefined) return text;
  const scheme = name.toLowerCase();
  // Without an authority, a path may have no segments: dots are part of a URN, or hide what would look like
  // an authority.
  if (authority === undefined) return `${scheme}:${decoded(path)}${decoded(rest)}`;
  const place = canonicalAuthority(authority, scheme);
  return `${scheme}://${place}${withoutDotSegments(decoded(path) || '/')}${decoded(rest)}`;
}

function canonicalAuthority(authority: string, scheme: string): string {
  const [, user = '', host, port = ''] = AUTHORITY.exec(authority) ?? [];
  if (host === undefined) return authority;
  const isUsual = port === '' || port === USUAL_PORTS[scheme];
  // Decoded again, because remaining encodings have upper-case digits.
  return `${decoded(user)}${decoded(decoded(host).toLowerCase())}${isUsual ? '' : `:${port}`}`;
}

/** RFC 3986 §5.2.4. */
function withoutDotSegments(path: string): string {
  if (!path.includes('/.')) return path;
  const segments = path.split('/').slice(1);
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  const last = segments.at(-1);
  return `/${kept.join('/')}${(last === '.' || last === '..') && kept.length > 0 ? '/' : ''}`;
}

/** Decodes unreserved characters, and writes other encodings in upper case (§6.2.2.1, §6.2.2.2). */
function decoded(part: string): string {
  return part.replace(/%[\da-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}
