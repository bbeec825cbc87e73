// Checks of an embedded login besides its token's: which page it comes from, and whether a cookie may carry its session.
import { pageOrigin } from '../../platform/text/origin.js';
import { printable, printableList } from '../../platform/text/printable.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type {
  Tokens,
  Verification,
  VerifiedRequest,
  VerifiedToken,
} from '../verify/external-token.verifier.js';
import { issuerAndKid, refuseRevokedTrust } from '../verify/external-token.verifier.js';

/** A login as far as its verification looks at it. */
export interface VerifiedLogin {
  /** Secret. */
  readonly token: string;
  readonly source: LoginSource;
  /** Of a login for a bound session; undefined: a cookie is to carry the session. */
  readonly page?: LoginPage | undefined;
}

/** The page in the frame that asks for a bound session. */
export interface LoginPage {
  /** The origin of the instance's own pages. */
  readonly ownOrigin: string;
  /** The origin of the page that contains the frame, as the page says. */
  readonly hostOrigin: string;
}

/** @throws OAuthRefusal with the first reason against it */
export async function verifyLogin(
  { verifier, revocations }: Verification,
  { token, source, page }: VerifiedLogin,
  request: VerifiedRequest = {},
): Promise<Tokens> {
  const subject = await verifier.verify(token, 'embed');
  request.tokens = { subject };
  if (page === undefined) refuseBoundToken(subject);
  refuseForeignOrigin(subject, page === undefined ? source : hostSourceOf(subject, source, page));
  refuseRevokedTrust(revocations, { subject });
  return { subject };
}

/**
 * @rule D127 A token that is bound to a key (RFC 7800) opens no session of a cookie, which would be good without the key.
 * @throws OAuthRefusal `confirmation_not_supported`
 */
function refuseBoundToken(token: VerifiedToken): void {
  if (token.boundTo === undefined) return;
  const context = { ...issuerAndKid(token), expected: 'no cnf', found: 'cnf with jkt' };
  throw new OAuthRefusal('confirmation_not_supported', context);
}

/**
 * The host page as the source of the login. The instance's own page says which one it is, so only that page is believed.
 * @throws OAuthRefusal `origin_not_allowed`
 */
function hostSourceOf(
  token: VerifiedToken,
  source: LoginSource,
  { ownOrigin, hostOrigin }: LoginPage,
): LoginSource {
  if (source.origin === ownOrigin) return { ...source, origin: hostOrigin };
  throw new OAuthRefusal('origin_not_allowed', {
    ...issuerAndKid(token),
    expected: `a post from the page of ${printable(ownOrigin)}`,
    found: printableSource(source),
  });
}

/** Unchecked facts about the sender of a request. */
export interface LoginSource {
  readonly method: 'GET' | 'POST';
  readonly origin: string | undefined;
  /** The `Sec-Fetch-Site` header, which browsers send over HTTPS, and which no page can take away. */
  readonly fetchSite: string | undefined;
}

/**
 * Refuses a login that may come from a page of a foreign origin, if the entry names its origins, so that no such page signs a
 * visitor in (login CSRF). A request without an origin passes only as a post that no browser sent.
 * @rule P.origins Where an entry names origins, a login from another one, by GET, or of a browser without one is refused.
 * @throws OAuthRefusal `origin_not_allowed`
 */
export function refuseForeignOrigin(token: VerifiedToken, source: LoginSource): void {
  const { origins } = token.key.policy;
  if (origins === undefined || isPostedFrom(origins, source)) return;
  throw new OAuthRefusal('origin_not_allowed', {
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
  return header === undefined ? undefined : pageOrigin(header);
}
