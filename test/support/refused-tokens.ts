// Tokens that must be refused, one for each reason, with the words that embedded login has for it.
import { createHmac, randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import type { Members } from '../../demo/partner.js';
import type { TestService } from './test-service.js';
import { BASE_URL } from './test-service.js';

/** Where roles are limited; its e-mail addresses are those of `partner.example`. */
export const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const stranger = Partner.create({ issuer: partner.issuer, kid: partner.kid });

export const TRUSTED_KEYS = [partner.staticEntry({ allowedRoles: ['global:member', 'global:owner'] })];

export interface RefusedToken {
  /** The stable machine word of D18. */
  code: string;
  /** The message where the specification gives one (section 7). */
  message?: string;
  /** What is wrong, in words. */
  what: string;
  make: (service: TestService) => string | Promise<string>;
}

const signed = (claims: Members = {}, header: Members = {}) => partner.sign(partner.claims(claims), header);
const now = () => Math.floor(Date.now() / 1000);

/** Reasons for a 401 at embedded login; all but the lifetime are `invalid_grant` at the exchange endpoint. */
export const REFUSED_TOKENS: RefusedToken[] = [
  { code: 'token_malformed', what: 'no JWT', make: () => 'no-jwt' },
  { code: 'token_malformed', what: 'a header that is not JSON', make: () => partner.signRaw('{', '{}') },
  { code: 'token_malformed', what: 'five parts, as of a JWE', make: () => 'e30.e30.e30.e30.e30' },
  {
    code: 'kid_missing',
    message: 'Token header missing kid',
    what: 'no kid',
    make: () => signed({}, { kid: undefined }),
  },
  {
    code: 'kid_missing',
    message: 'Token header missing kid',
    what: 'a kid that is a number',
    make: () => signed({}, { kid: 7 }),
  },
  {
    code: 'header_not_allowed',
    what: 'an unknown crit',
    make: () => signed({}, { crit: ['b64'], b64: false }),
  },
  { code: 'token_type_not_allowed', what: 'an access token', make: () => signed({}, { typ: 'at+jwt' }) },
  { code: 'algorithm_not_allowed', what: 'alg none', make: unsigned },
  { code: 'algorithm_not_allowed', what: 'HMAC over the public key', make: hmacOverPublicKey },
  { code: 'key_unknown', what: 'an unknown kid', make: () => signed({}, { kid: 'nobody' }) },
  { code: 'key_unknown', what: 'an unknown issuer', make: () => signed({ iss: 'https://other.example' }) },
  { code: 'signature_invalid', what: "a stranger's key", make: () => stranger.sign(partner.claims()) },
  { code: 'claims_not_storable', what: 'NUL in a claim', make: () => signed({ given_name: 'a\0b' }) },
  {
    code: 'claims_not_storable',
    what: 'a lone surrogate',
    make: () => partner.signRaw(header(), surrogate()),
  },
  { code: 'claims_not_storable', what: 'a sub of 256', make: () => signed({ sub: 's'.repeat(256) }) },
  {
    code: 'audience_mismatch',
    what: 'another audience',
    make: () => signed({ aud: 'https://other.example' }),
  },
  {
    code: 'audience_mismatch',
    what: 'a prefix of the audience',
    make: () => signed({ aud: [`${BASE_URL}.evil`] }),
  },
  { code: 'token_expired', what: 'an expired token', make: () => signed({ iat: now() - 60, exp: now() }) },
  { code: 'token_not_yet_valid', what: 'nbf ahead', make: () => signed({ nbf: now() + 30 }) },
  { code: 'token_issued_in_future', what: 'iat an hour ahead', make: () => signed({ iat: now() + 3600 }) },
  { code: 'token_replayed', message: 'Token has already been used', what: 'a used token', make: used },
  { code: 'email_missing', what: 'no e-mail', make: () => signed({ sub: 'unknown', email: undefined }) },
  {
    code: 'email_not_verified',
    what: 'an unverified e-mail',
    make: () => signed({ sub: 'u', email_verified: false }),
  },
  {
    code: 'role_not_allowed',
    what: 'a role not allowed',
    make: () => signed({ sub: 'a', role: 'global:admin' }),
  },
  { code: 'role_not_recognized', what: 'an unknown role', make: () => signed({ sub: 'b', role: 'root' }) },
  {
    code: 'role_not_assignable',
    what: 'the owner role',
    make: () => signed({ sub: 'c', role: 'global:owner' }),
  },
  { code: 'user_disabled', what: 'a disabled user', make: ofDisabledUser },
];

/** Signed tokens with claims that are missing or of a wrong type (7.6, 7.8). */
export const INVALID_CLAIMS: [string, Members][] = [
  ...['sub', 'iss', 'aud', 'iat', 'exp', 'jti'].map((name): [string, Members] => [
    `no ${name}`,
    { [name]: undefined },
  ]),
  ['sub is empty', { sub: '' }],
  ['sub is a number', { sub: 1 }],
  ['iss is an array', { iss: [partner.issuer] }],
  ['aud is a number', { aud: 5 }],
  ['iat is text', { iat: '1', exp: now() + 30 }],
  ['exp is text', { exp: 'soon' }],
  ['exp is 1e300', { exp: 1e300 }],
  ['jti is null', { jti: null }],
  ['email is no address', { email: 'nobody' }],
  ['role is a list', { role: ['global:member'] }],
  ['nbf is negative', { nbf: -1 }],
];

function header(): string {
  return JSON.stringify({ alg: partner.algorithm, kid: partner.kid });
}

function surrogate(): string {
  return JSON.stringify(partner.claims()).replace('Robin', '\\ud800');
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function unsigned(): string {
  return `${encoded({ alg: 'none', kid: partner.kid })}.${encoded(partner.claims())}.`;
}

function hmacOverPublicKey(): string {
  const input = `${encoded({ alg: 'HS256', kid: partner.kid })}.${encoded(partner.claims())}`;
  return `${input}.${createHmac('sha256', partner.publicKeyPem()).update(input).digest('base64url')}`;
}

async function used(service: TestService): Promise<string> {
  const token = signed();
  const answer = await service.embed({ token });
  if (answer.status !== 303) throw new Error(`the first use was answered with ${answer.status}`);
  return token;
}

async function ofDisabledUser(service: TestService): Promise<string> {
  const sub = `leaver-${randomUUID().slice(0, 8)}`;
  await service.sessionCookie(signed({ sub }));
  await service.rows('UPDATE user_account SET enabled = false WHERE email = $1', [`${sub}@partner.example`]);
  return signed({ sub });
}
