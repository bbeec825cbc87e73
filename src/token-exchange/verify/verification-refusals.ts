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
    remedy: "the partner sends its library's token unchanged",
    embed: 'Token is malformed',
  },
  kid_missing: {
    check: 'header',
    cause: 'the header has no `kid` string',
    remedy: 'the partner adds it',
    embed: 'Token header missing kid',
  },
  header_not_allowed: {
    check: 'header',
    cause: 'the header has `crit` or `b64`, which are not supported',
    remedy: 'the partner omits them',
    embed: 'Token header is not supported',
  },
  token_type_not_allowed: {
    check: 'header',
    cause: '`typ` is for another purpose',
    remedy: 'the partner signs with the expected `typ`, or the operator sets `typ` to `at+jwt` (RFC 9068)',
    embed: 'Token type is not accepted',
  },
  algorithm_not_allowed: {
    check: 'header',
    cause: "the token's key is not trusted for its algorithm",
    remedy: 'the partner uses an expected one, or the operator extends `algorithms`',
    embed: 'Token algorithm is not allowed',
  },
  issuer_unknown: {
    check: 'key',
    cause: 'no trusted key entry has exactly this `iss`',
    remedy: 'the partner corrects `iss`, or the operator adds an entry',
    embed: KEY_UNKNOWN,
  },
  key_set_unavailable: {
    check: 'key',
    cause: "the issuer's key set was never fetched, is too old or has no usable key",
    remedy: 'the partner repairs it, and the operator fetches it (`svc-admin keys refresh`)',
    embed: KEY_UNKNOWN,
  },
  kid_unknown: {
    check: 'key',
    cause: 'the issuer has no known key with this `kid`',
    remedy:
      'the partner publishes the key, or the operator adds it; `svc-admin keys status` lists fetched keys',
    embed: KEY_UNKNOWN,
  },
  signature_invalid: {
    check: 'signature',
    cause: 'the signature does not match the key of this issuer and `kid`',
    remedy: "partner and operator compare the key's thumbprint (RFC 7638); a new key needs a new `kid`",
    embed: 'Token signature is invalid',
  },
  entry_suspended: {
    check: 'trust',
    cause: 'the entry is suspended',
    remedy: 'the operator resumes it (`svc-admin keys resume`), if appropriate',
    embed: 'Trust in the issuer of the token is suspended',
  },
  trust_ended: {
    check: 'trust',
    cause: 'trust in the entry ended at its `notAfter`',
    remedy: 'the operator sets a later one, if appropriate',
    embed: 'Trust in the issuer of the token has ended',
  },
  flow_not_allowed: {
    check: 'trust',
    cause: 'the entry does not allow this flow',
    remedy: 'the operator adds it to `flows`, or the partner uses another',
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
    cause: 'a claim is too long or cannot be stored',
    remedy: 'the partner corrects the named claim',
    embed: 'Token claims cannot be processed',
  },
  confirmation_not_supported: {
    check: 'claims',
    cause: 'the token is bound to a key (`cnf`) in an unsupported way',
    remedy: 'the partner signs without `cnf`, or for exchange and frame with `cnf.jkt` alone',
    embed: 'Token is bound to a key',
  },
  audience_mismatch: {
    check: 'audience',
    cause: "`aud` is not the expected audience; an assertion's must be this instance alone",
    remedy: 'the partner corrects `aud`, or the operator `expectedAudience`',
    embed: 'Token audience does not match',
  },
  token_expired: {
    check: 'times',
    cause: 'the token has expired; `exp` has no tolerance',
    remedy: 'the partner signs a token for each use, sends it at once, and checks its clock',
    embed: 'Token has expired',
  },
  token_not_yet_valid: {
    check: 'times',
    cause: '`nbf` is in the future',
    remedy: 'the partner omits `nbf`, or somebody corrects the wrong clock (NTP)',
    embed: 'Token is not valid yet',
  },
  token_issued_in_future: {
    check: 'times',
    cause: '`iat` is in the future',
    remedy: 'somebody corrects the wrong clock (NTP)',
    embed: 'Token was issued in the future',
  },
  token_lifetime_exceeded: {
    check: 'lifetime',
    cause: "the lifetime from `iat` to `exp` exceeds the flow's limit",
    remedy: 'the partner sets an earlier `exp`',
    embed: 'Token lifetime exceeds maximum allowed',
  },
} satisfies Record<string, TokenRefusal>;
