// Checks where an embedded login comes from, by its method and by what browsers send with it.
import { originOfText } from '../../platform/text/origin.js';
import { printable, printableList } from '../../platform/text/printable.js';
import { Rejection } from '../refusals/rejection.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';

/** Unchecked facts about the sender of a request. */
export interface LoginSource {
  readonly method: 'GET' | 'POST';
  /** The `Origin` header. */
  readonly origin: string | undefined;
  /** The `Sec-Fetch-Site` header, which browsers send over HTTPS, and which no page can take away. */
  readonly fetchSite: string | undefined;
}

/**
 * Refuses a login that may come from a page of a foreign origin, if the entry names its origins, so that no such page signs a
 * visitor in (login CSRF). A request without an origin passes only as a post that no browser sent.
 * @rule P.origins Where an entry names origins, a login from another one, by GET, or of a browser without one is refused.
 * @throws Rejection `origin_not_allowed`
 */
export function refuseForeignOrigin(token: VerifiedToken, source: LoginSource): void {
  const { origins } = token.key.policy;
  if (origins === undefined || isPostedFrom(origins, source)) return;
  throw new Rejection('origin_not_allowed', {
    ...issuerAndKid(token),
    expected: `a post from ${printableList(origins)}`,
    found: printableSource(source),
  });
}

function printableSource({ method, origin }: LoginSource): string {
  if (method !== 'POST') return 'a GET';
  const named = pageOriginOf(origin);
  return named === undefined ? 'a post that names no origin' : `a post from ${printable(named)}`;
}

/** A GET proves nothing: any link or frame makes one, and browsers name no origin with it. */
function isPostedFrom(origins: ReadonlySet<string>, { method, origin, fetchSite }: LoginSource): boolean {
  if (method !== 'POST') return false;
  // `null`, which pages without referrer send, is listed nowhere.
  return origin === undefined ? fetchSite === undefined : origins.has(origin);
}

/** The origin that the page in the frame may talk to, if a browser named one. */
export function pageOriginOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : originOfText(header);
}
