// Why a token is refused by itself: who signed it, what it contains, and when.
import type { TokenRefusal } from '../refusals/refusal.js';

/** @rule 7.6 Missing or mistyped claims of a correctly signed token. */
const INVALID_CLAIMS = { status: 400, error: 'invalid_request', message: 'Token claims validation failed' };

/** The client does not learn which issuers the instance trusts: an unknown issuer and an unknown key have one answer. */
const KEY_UNKNOWN = { status: 401, error: 'key_unknown', message: 'No trusted key matches the token' };

export const VERIFICATION_REFUSALS = {
  token_malformed: {
    check: 'token',
    cause:
      'the token is not a signed JWT in compact form: three parts in base64url without padding, the first two of them JSON objects without repeated members',
    remedy:
      'the partner sends the token exactly as its library signed it: not encrypted, cut, quoted or wrapped',
    embed: 'Token is malformed',
  },
  kid_missing: {
    check: 'header',
    cause: 'the header of the token has no `kid`, or one that is not a string',
    remedy: 'the partner sets the `kid` of its key in the header, as a string',
    embed: 'Token header missing kid',
  },
  header_not_allowed: {
    check: 'header',
    cause: 'the header of the token has `crit` or `b64`, extensions that are not supported',
    remedy: 'the partner signs a plain JWT without them',
    embed: 'Token header is not supported',
  },
  token_type_not_allowed: {
    check: 'header',
    cause:
      'the `typ` of the token says that the token has another purpose: it ends in `+jwt`, as that of an access token does, or has parameters; the entry names `at+jwt` by `typ`, and the token has another; an identity assertion has another `typ` than its own or none, any other assertion one that is not `JWT`',
    remedy:
      'the partner signs a token for this purpose, with the expected `typ`; for access tokens by RFC 9068 the operator sets `typ` of the entry to `at+jwt`',
    embed: 'Token type is not accepted',
  },
  algorithm_not_allowed: {
    check: 'header',
    cause:
      'the token is signed with an algorithm that its key is not trusted for; HMAC (HS256) and `none` are never accepted',
    remedy:
      'the partner signs with an expected algorithm, or the operator corrects `algorithms` of the entry; for PS256, PS384 or PS512 the partner sets the `alg` of its RSA key in the key set',
    embed: 'Token algorithm is not allowed',
  },
  issuer_unknown: {
    check: 'key',
    cause: 'no trusted key entry has the `iss` of the token, compared character by character',
    remedy:
      'the partner writes `iss` exactly as the entry has it, or the operator adds an entry for this issuer',
    embed: KEY_UNKNOWN,
  },
  key_set_unavailable: {
    check: 'key',
    cause:
      'the key set of the issuer gives no key: no fetch has succeeded, the keys of the last fetch are too old, or it has no usable key',
    remedy:
      'the partner repairs its key set, and the operator fetches it (`svc-admin keys refresh`); `svc-admin keys status` says what is wrong with it',
    embed: KEY_UNKNOWN,
  },
  kid_unknown: {
    check: 'key',
    cause: 'the issuer is trusted, but has no known key with the `kid` of the token',
    remedy:
      'the partner uses the `kid` of a known key or publishes its key, or the operator adds an entry for the key; `svc-admin keys status` lists fetched keys',
    embed: KEY_UNKNOWN,
  },
  signature_invalid: {
    check: 'signature',
    cause:
      'the signature does not match the key of this issuer and `kid`: another key signed, or the token was changed',
    remedy:
      'the partner compares the thumbprint (RFC 7638) of its signing key with that of the entry; if it has a new key, the operator adds it with a new `kid`',
    embed: 'Token signature is invalid',
  },
  entry_suspended: {
    check: 'trust',
    cause: 'the trusted key entry is suspended',
    remedy: 'the operator resumes it (`svc-admin keys resume`), if the partner is still trusted',
    embed: 'Trust in the issuer of the token is suspended',
  },
  trust_ended: {
    check: 'trust',
    cause: 'trust in the entry ended at its `notAfter`',
    remedy: 'the operator sets a later `notAfter`, if the partner is still trusted',
    embed: 'Trust in the issuer of the token has ended',
  },
  flow_not_allowed: {
    check: 'trust',
    cause: 'the entry does not allow this flow',
    remedy: 'the operator adds the flow to `flows` of the entry, or the partner uses a flow that it lists',
    embed: 'Token is not accepted for embedded login',
  },
  claims_invalid: {
    check: 'claims',
    cause: 'a required claim is missing, or a claim has the wrong type',
    remedy: 'the partner corrects the claim that is named',
    oauth: INVALID_CLAIMS,
    embed: { status: 500, message: 'Token claims validation failed' },
  },
  claims_not_storable: {
    check: 'claims',
    cause: 'the text of a claim cannot be stored, or is too long',
    remedy: 'the partner corrects the claim that is named',
    embed: 'Token claims cannot be processed',
  },
  confirmation_not_supported: {
    check: 'claims',
    cause:
      'the token is bound to a key (`cnf`) in a way that is not supported: only `jkt` is, and a login whose session a cookie carries takes no bound token, since the session would need no key',
    remedy:
      'the partner signs a token without `cnf`; or, for an exchange and for the frame, one with `cnf.jkt` alone (RFC 9449)',
    embed: 'Token is bound to a key',
  },
  audience_mismatch: {
    check: 'audience',
    cause:
      '`aud` of the token has another audience than its entry expects; that of an assertion must be this instance alone',
    remedy:
      'the partner puts the expected value into `aud`, or the operator corrects `expectedAudience` of the entry',
    embed: 'Token audience does not match',
  },
  token_expired: {
    check: 'times',
    cause: 'the token has expired by the clock of this service; `exp` has no tolerance',
    remedy:
      "the partner signs a token for each use and sends it at once; if the token was new, somebody corrects the partner's clock or this machine's",
    embed: 'Token has expired',
  },
  token_not_yet_valid: {
    check: 'times',
    cause: 'the `nbf` of the token is in the future, beyond the tolerance',
    remedy:
      "the partner sets `nbf` to the present time or leaves it out, or somebody corrects the partner's clock or this machine's (NTP)",
    embed: 'Token is not valid yet',
  },
  token_issued_in_future: {
    check: 'times',
    cause: 'the `iat` of the token is in the future, beyond the tolerance',
    remedy: "somebody corrects the partner's clock, which is ahead, or this machine's, which is behind (NTP)",
    embed: 'Token was issued in the future',
  },
  token_lifetime_exceeded: {
    check: 'lifetime',
    cause:
      'from `iat` to `exp` the token lives longer than the limit for an embedded login or an identity assertion',
    remedy: 'the partner sets an `exp` that is at most the limit after `iat`',
    embed: 'Token lifetime exceeds maximum allowed',
  },
} satisfies Record<string, TokenRefusal>;
