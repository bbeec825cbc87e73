// Why a token is refused by itself: who signed it, what it contains, and when.
import type { TokenRefusal } from '../refusals/refusal.js';

/** @rule 7.6 Missing or mistyped claims of a correctly signed token. */
const INVALID_CLAIMS = { status: 400, error: 'invalid_request', message: 'Token claims validation failed' };

/** The client does not learn which issuers the instance trusts: an unknown issuer and an unknown key have one answer. */
const KEY_UNKNOWN = { status: 401, error: 'key_unknown', message: 'No trusted key matches the token' };

export const VERIFICATION_REFUSALS = {
  token_malformed: {
    check: 'token',
    cause: 'the token is not a signed JWT in compact form, or a JSON property is repeated',
    remedy: 'the partner sends the token exactly as its library signed it',
    embed: 'Token is malformed',
  },
  kid_missing: {
    check: 'header',
    cause: "the token's header has no `kid`, or one that is not a string",
    remedy: 'the partner sets the `kid` of its key in the header',
    embed: 'Token header missing kid',
  },
  header_not_allowed: {
    check: 'header',
    cause: "the token's header has `crit` or `b64`, which are not supported",
    remedy: 'the partner signs a plain JWT without them',
    embed: 'Token header is not supported',
  },
  token_type_not_allowed: {
    check: 'header',
    cause: "the token's `typ` is for another purpose",
    remedy:
      "the partner signs a token with the expected `typ`; for RFC 9068 access tokens the operator sets the entry's `typ` to `at+jwt`",
    embed: 'Token type is not accepted',
  },
  algorithm_not_allowed: {
    check: 'header',
    cause: "the token's key is not trusted for its algorithm; HMAC and `none` never are",
    remedy:
      "the partner signs with an expected algorithm (PS256, PS384 and PS512 need `alg` in the key set), or the operator corrects the entry's `algorithms`",
    embed: 'Token algorithm is not allowed',
  },
  issuer_unknown: {
    check: 'key',
    cause: "no trusted key entry has the token's `iss`, compared character by character",
    remedy: 'the partner corrects `iss`, or the operator adds an entry for this issuer',
    embed: KEY_UNKNOWN,
  },
  key_set_unavailable: {
    check: 'key',
    cause: "the issuer's key set gives no key: never fetched, too old or without a usable key",
    remedy:
      'the partner repairs its key set, and the operator fetches it (`svc-admin keys status`, `svc-admin keys refresh`)',
    embed: KEY_UNKNOWN,
  },
  kid_unknown: {
    check: 'key',
    cause: 'the issuer is trusted, but has no known key with this `kid`',
    remedy:
      'the partner uses or publishes a known key (`svc-admin keys status`), or the operator adds an entry for the key',
    embed: KEY_UNKNOWN,
  },
  signature_invalid: {
    check: 'signature',
    cause: 'the signature does not match the key of this issuer and `kid`',
    remedy:
      "the partner compares its key's thumbprint (RFC 7638) with the entry's; the operator adds a new key with a new `kid`",
    embed: 'Token signature is invalid',
  },
  entry_suspended: {
    check: 'trust',
    cause: 'the trusted key entry is suspended',
    remedy: 'the operator resumes it (`svc-admin keys resume`) if the partner is still trusted',
    embed: 'Trust in the issuer of the token is suspended',
  },
  trust_ended: {
    check: 'trust',
    cause: 'trust in the entry ended at its `notAfter`',
    remedy: 'the operator sets a later `notAfter` if the partner is still trusted',
    embed: 'Trust in the issuer of the token has ended',
  },
  flow_not_allowed: {
    check: 'trust',
    cause: 'the entry does not allow this flow',
    remedy: "the operator adds the flow to the entry's `flows`, or the partner uses another",
    embed: 'Token is not accepted for embedded login',
  },
  claims_invalid: {
    check: 'claims',
    cause: 'a required claim is missing, or a claim has the wrong type',
    remedy: 'the partner corrects the named claim',
    oauth: INVALID_CLAIMS,
    embed: { status: 500, message: 'Token claims validation failed' },
  },
  claims_not_storable: {
    check: 'claims',
    cause: 'a claim cannot be stored, or is too long',
    remedy: 'the partner corrects the named claim',
    embed: 'Token claims cannot be processed',
  },
  confirmation_not_supported: {
    check: 'claims',
    cause: 'the token is bound to a key (`cnf`) in a way that is not supported here',
    remedy:
      'the partner signs a token without `cnf`, or for an exchange or the frame with `cnf.jkt` alone (RFC 9449)',
    embed: 'Token is bound to a key',
  },
  audience_mismatch: {
    check: 'audience',
    cause: "the token's `aud` is not the expected audience; an assertion's must be this instance alone",
    remedy: "the partner corrects `aud`, or the operator corrects the entry's `expectedAudience`",
    embed: 'Token audience does not match',
  },
  token_expired: {
    check: 'times',
    cause: 'the token has expired; `exp` has no tolerance',
    remedy: 'the partner signs a token for each use and sends it at once, and its clock is right',
    embed: 'Token has expired',
  },
  token_not_yet_valid: {
    check: 'times',
    cause: "the token's `nbf` is in the future, beyond the tolerance",
    remedy: 'the partner sets `nbf` to now or leaves it out; somebody corrects the wrong clock (NTP)',
    embed: 'Token is not valid yet',
  },
  token_issued_in_future: {
    check: 'times',
    cause: "the token's `iat` is in the future, beyond the tolerance",
    remedy: "somebody corrects the partner's clock or this machine's (NTP)",
    embed: 'Token was issued in the future',
  },
  token_lifetime_exceeded: {
    check: 'lifetime',
    cause:
      'from `iat` to `exp` the token lives longer than the limit for an embedded login or an identity assertion',
    remedy: 'the partner sets an earlier `exp`',
    embed: 'Token lifetime exceeds maximum allowed',
  },
} satisfies Record<string, TokenRefusal>;
