// Why a token is refused by itself: who signed it, what it contains, and when.
import type { TokenRefusal } from '../refusals/refusal.js';

/** @rule 7.6 Missing or mistyped claims of a correctly signed token. */
const INVALID_CLAIMS = { status: 400, error: 'invalid_request', message: 'Token claims validation failed' };

/** The client does not learn which issuers the instance trusts: an unknown issuer and an unknown key have one answer. */
const KEY_UNKNOWN = { status: 401, error: 'key_unknown', message: 'No trusted key matches the token' };

export const VERIFICATION_REFUSALS = {
  token_malformed: {
    check: 'token',
    cause: 'the token is not a compact signed JWT, or repeats a JSON property',
    remedy: "send the library's token unchanged",
    embed: 'Token is malformed',
  },
  kid_missing: {
    check: 'header',
    cause: 'the header has no `kid` string',
    remedy: 'add `kid`',
    embed: 'Token header missing kid',
  },
  header_not_allowed: {
    check: 'header',
    cause: 'the header has `crit` or `b64`',
    remedy: 'omit them',
    embed: 'Token header is not supported',
  },
  token_type_not_allowed: {
    check: 'header',
    cause: '`typ` is for another purpose',
    remedy: "sign with the expected `typ`, or set the entry's `typ` (access tokens)",
    embed: 'Token type is not accepted',
  },
  algorithm_not_allowed: {
    check: 'header',
    cause: "the token's key is not trusted for its algorithm",
    remedy: 'use an expected algorithm, or extend `algorithms`',
    embed: 'Token algorithm is not allowed',
  },
  issuer_unknown: {
    check: 'key',
    cause: 'no entry has exactly this `iss`',
    remedy: 'correct `iss`, or add an entry',
    embed: KEY_UNKNOWN,
  },
  key_set_unavailable: {
    check: 'key',
    cause: "the issuer's key set is missing, too old or without a usable key",
    remedy: 'repair it, and run `svc-admin keys refresh`',
    embed: KEY_UNKNOWN,
  },
  kid_unknown: {
    check: 'key',
    cause: 'the issuer has no known key with this `kid`',
    remedy: 'publish or add the key; `svc-admin keys status` lists fetched keys',
    embed: KEY_UNKNOWN,
  },
  signature_invalid: {
    check: 'signature',
    cause: "the signature does not match the issuer's key with this `kid`",
    remedy: "compare the keys' thumbprints (RFC 7638); give a new key a new `kid`",
    embed: 'Token signature is invalid',
  },
  entry_suspended: {
    check: 'trust',
    cause: 'the entry is suspended',
    remedy: 'resume it (`svc-admin keys resume`)',
    embed: 'Trust in the issuer of the token is suspended',
  },
  trust_ended: {
    check: 'trust',
    cause: "the entry's `notAfter` has passed",
    remedy: 'set a later one',
    embed: 'Trust in the issuer of the token has ended',
  },
  flow_not_allowed: {
    check: 'trust',
    cause: 'the entry does not allow this flow',
    remedy: 'add it to `flows`',
    embed: 'Token is not accepted for embedded login',
  },
  claims_invalid: {
    check: 'claims',
    cause: 'a claim is missing or has the wrong type',
    remedy: 'correct the named claim',
    oauth: INVALID_CLAIMS,
    embed: { status: 500, message: 'Token claims validation failed' },
  },
  claims_not_storable: {
    check: 'claims',
    cause: 'a claim is too long or cannot be stored',
    remedy: 'correct the named claim',
    embed: 'Token claims cannot be processed',
  },
  confirmation_not_supported: {
    check: 'claims',
    cause: 'the token is bound to a key (`cnf`) in an unsupported way',
    remedy: 'omit `cnf`, or use only `cnf.jkt` (token exchange, frame)',
    embed: 'Token is bound to a key',
  },
  audience_mismatch: {
    check: 'audience',
    cause: '`aud` is not the expected audience (of an assertion: this instance alone)',
    remedy: 'correct `aud` or `expectedAudience`',
    embed: 'Token audience does not match',
  },
  token_expired: {
    check: 'times',
    cause: 'the token has expired',
    remedy: 'sign a token for each use, send it at once, and check the clock',
    embed: 'Token has expired',
  },
  token_not_yet_valid: {
    check: 'times',
    cause: '`nbf` is in the future',
    remedy: 'omit `nbf`, or correct the clock',
    embed: 'Token is not valid yet',
  },
  token_issued_in_future: {
    check: 'times',
    cause: '`iat` is in the future',
    remedy: 'correct the clock (NTP)',
    embed: 'Token was issued in the future',
  },
  token_lifetime_exceeded: {
    check: 'lifetime',
    cause: "the lifetime from `iat` to `exp` exceeds the flow's limit",
    remedy: 'set an earlier `exp`',
    embed: 'Token lifetime exceeds maximum allowed',
  },
} satisfies Record<string, TokenRefusal>;
