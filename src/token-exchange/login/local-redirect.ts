// Decides where a browser goes after an embedded login: always to a path on this instance.
import { parsedUrl } from '../../platform/text/url.js';

/** An arbitrary base: a target whose origin differs from it leaves the instance. */
const HERE = 'http://instance.invalid';
const MAX_TARGET_CHARACTERS = 4096;
/** Nested percent-encoding is decoded this many times. A path that still changes then is refused. */
const MAX_DECODINGS = 5;
/** Unicode category Cc: C0, DEL and C1. */
const CONTROL = /\p{Cc}/u;

/** Why a target is refused, without any part of the target. */
export type RedirectFault =
  | 'an absolute address'
  | 'no path'
  | 'another host'
  | 'control characters'
  | 'too many characters'
  | 'odd escapes';

interface LocalRedirect {
  readonly location: string;
  /** Why the path is `/` instead of the target. */
  readonly fault?: RedirectFault;
}

/**
 * The `Location` for a requested target, in its WHATWG URL serialisation; `/` for every target that is not a path here.
 *
 * Browsers treat `//x`, `/\x` and a path with tabs or line ends as another server. Some servers and proxies
 * decode a path before they pass it on, so the decoded forms must be harmless too. Query and fragment cannot change the host and
 * stay as they are.
 * @rule 4.1.2 Only a relative path is followed.
 * @rule D24 The target can never leave this instance.
 */
export function localRedirect(target = ''): LocalRedirect {
  return target === '' ? { location: '/' } : checked(target);
}

function checked(target: string): LocalRedirect {
  if (target.length > MAX_TARGET_CHARACTERS) return replaced('too many characters');
  if (!target.startsWith('/')) return replaced(parsedUrl(target) ? 'an absolute address' : 'no path');
  // Control characters are refused in every part: the URL parser would silently drop tabs and line ends.
  if (CONTROL.test(target)) return replaced('control characters');
  const url = parsedUrl(target, HERE);
  if (url?.origin !== HERE) return replaced('another host');
  // Not pathname + search + hash: these lose a lone `?` or `#`.
  const location = url.href.slice(HERE.length);
  if (location.length > MAX_TARGET_CHARACTERS) return replaced('too many characters');
  const [path = ''] = target.split(/[?#]/, 1);
  const fault = pathFault(path) ?? pathFault(url.pathname);
  return fault === undefined ? { location } : replaced(fault);
}

function replaced(fault: RedirectFault): LocalRedirect {
  return { location: '/', fault };
}

/** Why a path is refused, in any decoded form; undefined if no form names another server. */
function pathFault(path: string): RedirectFault | undefined {
  let form = path;
  for (let decodings = 0; decodings <= MAX_DECODINGS; decodings++) {
    if (CONTROL.test(form)) return 'control characters';
    if (form.startsWith('//') || form.includes('\\') || leavesRoot(form)) return 'another host';
    const decoded = decodedOnce(form);
    if (decoded === form) return undefined;
    form = decoded;
  }
  return 'odd escapes';
}

/** `/..//host` and `/.//host` resolve to `//host`. */
function leavesRoot(path: string): boolean {
  return parsedUrl(path, HERE)?.pathname.startsWith('//') ?? true;
}

/** Decodes one layer of percent-encoding; if the bytes are not UTF-8, only the ASCII characters. */
function decodedOnce(path: string): string {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
    }
  });
}
