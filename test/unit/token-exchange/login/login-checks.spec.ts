// From which pages an entry that lists origins takes logins.
import type { LoginSource } from '../../../../src/token-exchange/login/login-checks.js';
import { pageOriginOf, refuseForeignOrigin } from '../../../../src/token-exchange/login/login-checks.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

const PRODUCT = 'https://product.example';
/** Builds a token from its content. In production only the verifier does. */
const tokenOf = (origins?: ReadonlySet<string>) =>
  ({ key: { kid: 'k', policy: { issuer: 'https://a.example', origins } } }) as VerifiedToken;

it.each<[LoginSource['method'], string | undefined, string | undefined, string?]>([
  ['POST', PRODUCT, undefined],
  ['POST', PRODUCT, 'cross-site'],
  ['POST', undefined, undefined],
  ['POST', undefined, 'same-origin', 'a post that names no origin'],
  ['POST', 'null', undefined, 'a post that names no origin'],
  ['POST', `${PRODUCT}.evil.example`, undefined, `a post from ${PRODUCT}.evil.example`],
  ['POST', `${PRODUCT}:8443`, undefined, `a post from ${PRODUCT}:8443`],
  ['GET', undefined, undefined, 'a GET'],
  ['GET', PRODUCT, undefined, 'a GET'],
])('[P.origins][K27] %s with Origin %j and Sec-Fetch-Site %j', (method, origin, fetchSite, ...[found]) => {
  const source = { method, origin, fetchSite };
  expect(() => refuseForeignOrigin(tokenOf(), source)).not.toThrow();
  const attempt = () => refuseForeignOrigin(tokenOf(new Set([PRODUCT])), source);
  if (found === undefined) return expect(attempt).not.toThrow();
  const context = { issuer: 'https://a.example', kid: 'k', expected: `a post from ${PRODUCT}`, found };
  expect(attempt).toThrow(expect.objectContaining({ reason: 'origin_not_allowed', context }));
});

it.each([
  [PRODUCT, PRODUCT],
  [undefined, undefined],
  ['null', undefined],
  ['javascript:alert(1)', undefined],
  [`${PRODUCT}/path`, undefined],
  ['https://a b', undefined],
])('[D25] with the header %j the page may talk to %j', (header, origin) =>
  expect(pageOriginOf(header)).toBe(origin),
);
