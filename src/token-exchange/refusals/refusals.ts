// Why requests and access tokens are refused, and what the log warns of: one row for each. See token-refusals.ts for tokens.
import { ACCEPTED_CODING, INTERNAL_ERROR_MESSAGE } from '../../platform/http/answers.js';

/** A check of a flow. Each flow makes those that apply to it, in this order. */
export type Check =
  | 'endpoint'
  | 'form'
  | 'client'
  | 'token'
  | 'header'
  | 'key'
  | 'signature'
  | 'trust'
  | 'claims'
  | 'audience'
  | 'times'
  | 'lifetime'
  | 'parties'
  | 'origin'
  | 'revocation'
  | 'proof'
  | 'remaining lifetime'
  | 'grants'
  | 'replay'
  | 'e-mail'
  | 'admission'
  | 'user'
  | 'role'
  | 'projects';

/** For operators. Clauses without a full stop. */
export interface Explanation {
  /** The fault. */
  readonly cause: string;
  /** Who does what about it. A host that has settings for it says so in its own words. */
  readonly remedy: string;
}

/** Of what has a place in the order of a flow. */
export interface CheckedExplanation extends Explanation {
  readonly check: Check;
}

/** Each is a warning of the log, and an event of the audit trail. */
export interface TokenRefusal extends CheckedExplanation {
  /** The answer of the token endpoint; left out: that of nearly every refused token. */
  readonly oauth?: Required<EndpointAnswer>;
  /** The answer of embedded login, a text for the message of a 401; left out: a login is never refused for this. */
  readonly embed?: EndpointAnswer | string;
}

/** What an endpoint answers; how it is written is the endpoint's. */
export interface EndpointAnswer {
  readonly status: number;
  /** The stable word for programs; of a refused login the reason, unless the row has another. */
  readonly error?: string;
  readonly message: string;
}

/** The message of the answer is that of the `OAuthRefusal`. */
interface RequestRefusal extends CheckedExplanation {
  readonly status: number;
  /** The word of the token endpoint's answer. Default `invalid_request`. */
  readonly oauth?: string;
  /** The word of embedded login's answer. Default: the kind. */
  readonly embed?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Not logged: no throttle bounds these requests, or they are no faults, and they must not fill the log. */
  readonly isSilent?: true;
}

const REQUEST_ROWS = {
  not_available: {
    check: 'endpoint',
    cause: 'the endpoint is off: the licence does not include token exchange, or has ended',
    remedy:
      'the operator looks at the licence (`svc-admin license show`), and asks the vendor for one that includes token exchange',
    status: 404,
    oauth: 'not_found',
    embed: 'not_found',
    isSilent: true,
  },
  not_enabled: {
    check: 'endpoint',
    cause: 'the flow of the endpoint is switched off',
    remedy: 'the operator switches it on, and restarts the service',
    status: 501,
    oauth: 'server_error',
  },
  method_not_allowed: {
    check: 'endpoint',
    cause: 'the endpoint does not accept this HTTP method; under the strict policy a login is a POST',
    remedy: 'the client uses a method that `Allow` of the answer names',
    status: 405,
    isSilent: true,
  },
  prefetch: {
    check: 'endpoint',
    cause:
      'the browser has fetched a login by GET in advance, before the user followed the link; the token can still be used',
    remedy: 'none is needed: the login follows with the click; a login by POST is never prefetched',
    status: 425,
    isSilent: true,
  },
  payload_too_large: {
    check: 'form',
    cause: 'the body is larger than 256 KiB',
    remedy: 'the client sends the form alone',
    status: 413,
    isSilent: true,
  },
  not_a_form: {
    check: 'form',
    cause: 'the body is not a form (application/x-www-form-urlencoded in UTF-8)',
    remedy: 'the client sends the fields as a form, not as JSON, and the header `Content-Type` says so',
    status: 415,
  },
  content_encoding_not_supported: {
    check: 'form',
    cause: 'the body is compressed',
    remedy: 'the client sends it without `Content-Encoding`',
    status: 415,
    headers: ACCEPTED_CODING,
  },
  unsupported_grant_type: {
    check: 'form',
    cause: '`grant_type` is missing, or names a grant that is not switched on',
    remedy: 'the client sends the value that the answer names',
    status: 400,
    oauth: 'unsupported_grant_type',
  },
  field_invalid: {
    check: 'form',
    cause: 'a field of the form is missing, repeated, too long or broken',
    remedy: 'the client corrects the field, which the line and the answer name',
    status: 400,
  },
  token_missing: {
    check: 'form',
    cause: 'the field `token` is missing or empty',
    remedy: 'the client sends the token in it',
    status: 400,
  },
  dpop_nonce_required: {
    check: 'proof',
    cause:
      'the DPoP proof has no nonce, or one that is no longer accepted; only a client assertion is used up',
    remedy: 'none is needed: the client repeats the request with the nonce of the answer (`DPoP-Nonce`)',
    status: 400,
    oauth: 'use_dpop_nonce',
    embed: 'use_dpop_nonce',
    isSilent: true,
  },
} satisfies Record<string, RequestRefusal>;

/** Why a request is refused before a token is looked at. */
export type RequestRefusalReason = keyof typeof REQUEST_ROWS;

export const REQUEST_REFUSALS: Readonly<Record<RequestRefusalReason, RequestRefusal>> = REQUEST_ROWS;

/** Access tokens of the host that are refused where they are presented (RFC 6750). All get the same 401. */
export const BEARER_REFUSALS = {
  malformed: {
    cause: '`Authorization` has neither a Bearer nor a DPoP credential, or its token is not a JWT',
    remedy:
      'the client sends `Authorization: Bearer` (`DPoP` where that is the `token_type`) and the `access_token` of an exchange, unchanged',
  },
  not_issued_here: {
    cause: 'no key of this instance signed the token as an access token of this address',
    remedy:
      "the client exchanges the partner's token first, and sends the access token; the operator gives all instances the same address",
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
      'somebody has ended the access token: its holder has revoked it, its user was signed out everywhere, or a key that signed for it was revoked',
    remedy:
      'the client exchanges again; `svc-admin keys revocations` lists revoked keys, the audit trail the rest',
  },
  privileged_user_not_allowed: {
    cause:
      'a key of an entry that an administrator stored signed for the access token, and its user has become an administrator',
    remedy: 'the user signs in by an entry that the owner set',
  },
  token_not_bound: {
    cause: 'the access token is not bound to a key, and the client has sent it by the scheme `DPoP`',
    remedy: 'the client sends it by the scheme that `token_type` of its exchange names',
  },
  dpop_proof_missing: {
    cause:
      'the access token or session is bound to a key (DPoP), and came as Bearer or without a proof: perhaps from a thief',
    remedy: 'the client sends `Authorization: DPoP` and a proof for each call in the header `DPoP`',
  },
  dpop_proof_invalid: {
    cause: 'the DPoP proof of the call fails a check, which the line names',
    remedy:
      'the client signs a proof (RFC 9449 §4.2) for each call, for its method, its public address and its access token, and its clock is right',
  },
  dpop_key_mismatch: {
    cause:
      'another key has signed the DPoP proof of the call than the one that the access token or session is bound to',
    remedy:
      'the client signs the proof with the key with which it exchanged; if it has lost that key, it exchanges or signs in again',
  },
  dpop_nonce_required: {
    cause:
      'the DPoP proof of the call has no nonce, or one that is no longer accepted; the service only counts it',
    remedy: 'none is needed: the client repeats the call with the nonce of the answer (`DPoP-Nonce`)',
  },
  dpop_proof_replayed: {
    cause: 'the DPoP proof of the call was used before',
    remedy: 'the client signs a proof for each call, also for a retry, with a random `jti`',
  },
  user_unknown: {
    cause: 'the user or the actor of the access token no longer exists',
    remedy: 'the client exchanges again: this finds or creates the user, if the entry allows it',
  },
  user_disabled: {
    cause: 'the user or the actor of the access token is disabled',
    remedy: 'the operator enables the user (`svc-admin users enable`), if the user may sign in again',
  },
} as const satisfies Record<string, Explanation>;

export type BearerReason = keyof typeof BEARER_REFUSALS;

/** What the log warns of though the request goes on: mostly a mistake. */
export const NOTICES = {
  redirect_replaced: {
    cause: 'the service has replaced `redirectTo` by `/`: it is not a path on this instance',
    remedy: 'the partner sends a path, such as `/workflows/1`, without scheme and host',
  },
  role_ignored: {
    cause:
      'the service has ignored a role claim, which names no role that a token can assign; the user keeps the role that is stored',
    remedy: 'the partner corrects the claim `role`, or leaves it out',
  },
  project_administrator_kept: {
    cause:
      'the user stays an administrator of a project, although the claim of projects takes that role away: the project has no other administrator',
    remedy:
      'the operator makes another user an administrator of the project; the next token of this user then takes the role away',
  },
  token_type_ignored: {
    cause: 'the service has ignored a token type: it reads every token as a JWT, whatever the field says',
    remedy: 'the client sends the expected type, because other servers may refuse this one (RFC 8693)',
  },
} as const satisfies Record<string, Explanation>;

export type NoticeKind = keyof typeof NOTICES;

/** A fault of the service, which ends a request with `internal_error`: an error of the log. */
export const FAULT = {
  cause: 'a fault of the service ended it',
  remedy: 'the log has the fault at the level `error`, under the same request id',
  oauth: { status: 500, error: 'server_error', message: INTERNAL_ERROR_MESSAGE },
  embed: { status: 500, error: 'internal_error', message: INTERNAL_ERROR_MESSAGE },
} as const;
