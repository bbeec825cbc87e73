// Why something is refused, and what is to be done: the one table that log, documents and commands read.
import type { FlowRefusalKind } from './edge/flow-refusal.js';
import type { BearerReason, RejectionReason } from './rejection.js';

/**
 * The checks of both flows in the order in which they are made: what fails one has passed those before. A flow leaves some
 * out. `algorithm_not_allowed` is found out with the header, or with the key.
 */
export const CHECKS = [
  'endpoint',
  'form',
  'token',
  'header',
  'key',
  'signature',
  'trust',
  'claims',
  'audience',
  'times',
  'lifetime',
  'parties',
  'origin',
  'revocation',
  'remaining lifetime',
  'grants',
  'replay',
  'e-mail',
  'admission',
  'user',
  'role',
] as const;

export type Check = (typeof CHECKS)[number];

/** For operators. Clauses without a full stop. */
export interface Explanation {
  /** What was wrong. */
  readonly cause: string;
  /** Who does what about it. */
  readonly remedy: string;
}

/** Of what has a place in the order of a flow. */
export interface CheckedExplanation extends Explanation {
  readonly check: Check;
}

/** @rule D78 Every refusal has one cause and one remedy in words, here; docs/refusals.md has the same. */
export const REJECTION_EXPLANATIONS = {
  token_malformed: {
    check: 'token',
    cause:
      'the token is no signed JWT in compact form: three parts in base64url without padding, of JSON objects without repeated members',
    remedy: 'the partner sends the token as its library has signed it: not encrypted, cut, quoted or wrapped',
  },
  kid_missing: {
    check: 'header',
    cause: 'the header of the token has no `kid`',
    remedy: 'the partner sets the `kid` of its key in the header',
  },
  header_not_allowed: {
    check: 'header',
    cause: 'the header of the token has `crit` or `b64`, extensions that are not supported',
    remedy: 'the partner signs a plain JWT without them',
  },
  token_type_not_allowed: {
    check: 'header',
    cause: 'the `typ` of the token says that it was made for another purpose, such as an access token',
    remedy: 'the partner signs a token for this purpose, with the `typ` JWT or none',
  },
  algorithm_not_allowed: {
    check: 'header',
    cause: 'the token is signed by an algorithm that its key does not serve; HMAC and none never are',
    remedy: 'the partner signs by an expected algorithm, or the `algorithms` of the entry are corrected',
  },
  issuer_unknown: {
    check: 'key',
    cause: 'no trusted entry has the `iss` of the token, compared character by character',
    remedy: 'the partner writes `iss` exactly as the entry has it, or an entry for this issuer is added',
  },
  kid_unknown: {
    check: 'key',
    cause: 'the issuer is trusted, but no key of it with the `kid` of the token is held',
    remedy:
      'the partner uses the `kid` of a key that is held or publishes the key, or an entry for it is added; `svc-admin keys status` tells of fetched keys',
  },
  signature_invalid: {
    check: 'signature',
    cause:
      'the key of this issuer and `kid` has not made the signature: another key has, or the token was changed',
    remedy:
      'the partner compares the thumbprint (RFC 7638) of the key that it signs by; where it has changed its key, the entry is replaced, under a new `kid`',
  },
  trust_revoked: {
    check: 'revocation',
    cause: 'trust in the key of the token was revoked',
    remedy: 'the partner signs by a new key; `svc-admin keys restore` undoes a revocation that was a mistake',
  },
  claims_invalid: {
    check: 'claims',
    cause: 'a required claim is missing, or a claim is not of its type',
    remedy: 'the partner corrects the claim that is named',
  },
  claims_not_storable: {
    check: 'claims',
    cause: 'a claim has text that cannot be stored, or is too long',
    remedy: 'the partner corrects the claim that is named',
  },
  audience_mismatch: {
    check: 'audience',
    cause: 'the token is for another audience than its entry expects',
    remedy: 'the partner puts the expected value into `aud`, or `expectedAudience` of the entry is corrected',
  },
  token_expired: {
    check: 'times',
    cause: 'the token has expired by the clock of this service; at `exp` there is no tolerance',
    remedy:
      "the partner makes a token for each use and sends it at once; where it was new, its clock or this machine's is wrong",
  },
  token_not_yet_valid: {
    check: 'times',
    cause: 'the `nbf` of the token is in the future, beyond the tolerance',
    remedy: "the partner's clock or this machine's is wrong, or `nbf` is set too late",
  },
  token_issued_in_future: {
    check: 'times',
    cause: 'the `iat` of the token is in the future, beyond the tolerance',
    remedy: "the partner's clock is ahead, or this machine's is behind: one of them needs NTP",
  },
  token_lifetime_exceeded: {
    check: 'lifetime',
    cause: 'the token is made to live longer than an embedded login allows, from `iat` to `exp`',
    remedy: 'the partner sets `exp` within the limit after `iat`',
  },
  remaining_lifetime_too_short: {
    check: 'remaining lifetime',
    cause: 'the token ends too soon for an access token to be made of it',
    remedy: 'the partner sends it sooner, or makes it live longer',
  },
  entry_suspended: {
    check: 'trust',
    cause: 'the trusted entry of the key is suspended',
    remedy: '`svc-admin keys resume` ends that',
  },
  trust_ended: {
    check: 'trust',
    cause: 'trust in the entry has ended by its `notAfter`',
    remedy: '`notAfter` of the entry is moved, if the partner is still trusted',
  },
  flow_not_allowed: {
    check: 'trust',
    cause: 'the entry of the key is not trusted for this way in',
    remedy: '`flows` of the entry is widened, or the partner uses the other way',
  },
  origin_not_allowed: {
    check: 'origin',
    cause: 'the login did not come as a post from an origin that the entry names',
    remedy: 'the page of the partner posts from one of them, or `origins` of the entry is widened',
  },
  actor_required: {
    check: 'parties',
    cause: 'the entry takes its subjects together with an actor only',
    remedy:
      'the partner exchanges the token together with an actor token, or `requireActor` of the entry is taken away',
  },
  actor_not_allowed: {
    check: 'parties',
    cause: 'the subject token names another party that may act for it (`may_act`)',
    remedy: 'the partner names this actor in `may_act`, or sends the token of the named one',
  },
  act_for_not_allowed: {
    check: 'parties',
    cause: "the actor's entry does not let it act for subjects of this issuer",
    remedy: "`actFor` of the actor's entry is widened",
  },
  scope_not_allowed: {
    check: 'grants',
    cause: 'none of the scopes that were asked for can be granted',
    remedy:
      'the client asks for scopes that the entries of all parties list, or `scopes` of the entry is widened',
  },
  resource_not_allowed: {
    check: 'grants',
    cause: 'no token is issued for what was asked for as `resource`: several, or one that is not listed',
    remedy:
      'the client asks for one that the entries of all parties list, or `resources` of the entry is widened',
  },
  token_replayed: {
    check: 'replay',
    cause: 'a token with this `jti` was used before, by whatever way in',
    remedy:
      'the partner makes a token for each use, with a `jti` of its own, and sends it once; a retry needs a new one',
  },
  email_missing: {
    check: 'e-mail',
    cause: 'the user is not known yet, and the token has no `email` to be found or made by',
    remedy: 'the partner puts `email` into the token',
  },
  email_not_verified: {
    check: 'e-mail',
    cause: 'the user is not known yet, and the issuer does not call the e-mail address verified',
    remedy: 'the partner sets `email_verified` true for addresses that it has verified',
  },
  email_domain_not_allowed: {
    check: 'e-mail',
    cause: 'the user is not known yet, and the e-mail address is of a domain that the entry does not list',
    remedy: '`emailDomains` of the entry is widened, or the user needs another address',
  },
  linking_not_allowed: {
    check: 'admission',
    cause: 'a user with the e-mail address exists, and the entry may not link to users who exist',
    remedy: '`linkExistingUsers` of the entry is allowed, or the user needs another address',
  },
  privileged_linking_not_allowed: {
    check: 'admission',
    cause:
      'the user with the e-mail address is the owner or an administrator, to whom the entry may not link',
    remedy: 'if this partner may become that user: `linkPrivileged` of the entry is allowed',
  },
  provisioning_not_allowed: {
    check: 'admission',
    cause: 'the user is not known, and the entry may not make users',
    remedy: 'the user is made first (`svc-admin users create`), or `provisionUsers` of the entry is allowed',
  },
  role_not_allowed: {
    check: 'role',
    cause: 'the entry does not allow the role that the token asks for',
    remedy:
      'the partner asks for a role that is allowed, or for none, or `allowedRoles` of the entry is widened',
  },
  role_not_recognized: {
    check: 'role',
    cause: 'there is no role of the name that the token asks for',
    remedy: 'the partner corrects the claim `role`, or leaves it out',
  },
  role_not_assignable: {
    check: 'role',
    cause: 'the token asks for the role of the owner, which no token gives',
    remedy: 'the partner asks for another role, or for none',
  },
  stored_role_not_allowed: {
    check: 'user',
    cause: "the user's stored role is not among those that the entry lets in",
    remedy: "the user's role is changed, or `allowedRoles` or `roleCeiling` of the entry",
  },
  owner_excluded: {
    check: 'user',
    cause: 'the user is the owner, whom the entry does not let in',
    remedy: 'the owner signs in another way; else `excludeOwner` of the entry is taken away',
  },
  user_disabled: {
    check: 'user',
    cause: 'the user of the token is disabled',
    remedy: '`svc-admin users enable`, if the user may come in again',
  },
} as const satisfies Record<RejectionReason, CheckedExplanation>;

/** Requests that are refused for what they are, before any token is looked at. */
export const FLOW_REFUSAL_EXPLANATIONS = {
  not_available: {
    check: 'endpoint',
    cause: 'the endpoint is taken away: the licence does not include token exchange, or has run out',
    remedy: '`svc-admin license show` tells what the licence holds',
  },
  not_enabled: {
    check: 'endpoint',
    cause: 'the endpoint is switched off',
    remedy: '`SVC_TOKEN_EXCHANGE_ENABLED` or `SVC_EMBED_LOGIN_ENABLED` switches it on',
  },
  method_not_allowed: {
    check: 'endpoint',
    cause: 'the endpoint does not take this HTTP method; under the strict policy a login is a post',
    remedy: 'the client sends a method that `Allow` of the answer names',
  },
  payload_too_large: {
    check: 'form',
    cause: 'the body is larger than 256 KiB',
    remedy: 'the client sends the form alone',
  },
  not_a_form: {
    check: 'form',
    cause: 'the body is no form (application/x-www-form-urlencoded in UTF-8)',
    remedy: 'the client sends the fields as a form, not as JSON, and labels it so',
  },
  content_encoding_not_supported: {
    check: 'form',
    cause: 'the body is compressed',
    remedy: 'the client sends it as it is, without `Content-Encoding`',
  },
  unsupported_grant_type: {
    check: 'form',
    cause: '`grant_type` is missing or another than that of token exchange',
    remedy: 'the client sends the value that the answer names',
  },
  field_invalid: {
    check: 'form',
    cause: 'a field of the form is missing, repeated, too long or broken',
    remedy: 'the client corrects the field that the line and the answer name',
  },
  token_missing: {
    check: 'form',
    cause: 'the field `token` is missing or empty',
    remedy: 'the client sends the token in it',
  },
} as const satisfies Record<FlowRefusalKind, CheckedExplanation>;

/** Access tokens that are refused where they are presented. */
export const BEARER_EXPLANATIONS = {
  malformed: {
    cause: '`Authorization` is no Bearer credential, or its token is no JWT',
    remedy: 'the client sends `Authorization: Bearer` and the `access_token` of an exchange as it came',
  },
  not_issued_here: {
    cause: 'no key of this instance has signed the token, or not as an access token of this address',
    remedy:
      "the client exchanges the partner's token first; behind another address `SVC_BASE_URL` is to be that of the issuing instances; a token whose signing key is gone has expired long ago",
  },
  other_audience: {
    cause: 'the access token was issued for another service, which its `resource` named',
    remedy: 'the client asks for a token without `resource` for calls to this instance',
  },
  expired: {
    cause: 'the access token has expired',
    remedy: 'the client exchanges a new external token before `expires_in` is over',
  },
  revoked: {
    cause:
      'the access token was ended: by itself, with its user, or with the trust in a key that vouched for it',
    remedy:
      '`svc-admin keys revocations` lists keys; for the rest the trail holds who ended it; a new exchange makes a new token',
  },
  user_unknown: {
    cause: 'the user or the actor of the access token does not exist any more',
    remedy: 'a new exchange makes or finds the user anew, where the entry allows it',
  },
  user_disabled: {
    cause: 'the user or the actor of the access token is disabled',
    remedy: '`svc-admin users enable`, if the user may come in again',
  },
} as const satisfies Record<BearerReason, Explanation>;

/** What a request gets though not all of it counts: no refusal, but mostly a mistake. */
export type NoticeKind = 'redirect_replaced' | 'role_ignored' | 'token_type_ignored';

export const NOTICE_EXPLANATIONS = {
  redirect_replaced: {
    cause: '`redirectTo` was replaced by `/`: it is no path on this instance',
    remedy: 'the partner sends a path, such as `/workflows/1`, without scheme and host',
  },
  role_ignored: {
    cause: 'a role claim was ignored: it names no role that can be assigned; the user keeps the stored one',
    remedy: 'the partner corrects the claim `role`, or leaves it out',
  },
  token_type_ignored: {
    cause:
      'a token type was ignored: every token is taken for a JWT, whatever its type field says or leaves out',
    remedy: 'the client sends the expected type, as RFC 8693 asks for: other servers may refuse it',
  },
} as const satisfies Record<NoticeKind, Explanation>;
