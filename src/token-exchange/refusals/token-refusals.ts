// Why a token is refused: one row for each reason, which answers, log, audit trail, metrics, explanations and documents read.
import type { CheckedExplanation, EndpointAnswer } from './refusals.js';

/** Each is a warning of the log, and an event of the audit trail. */
interface TokenRefusal extends CheckedExplanation {
  /** The answer of the token endpoint. */
  readonly oauth: EndpointAnswer & { readonly error: string };
  /** The answer of embedded login. Its word is the reason, unless the row has another. */
  readonly embed: EndpointAnswer;
}

interface Row extends CheckedExplanation {
  /** Default `INVALID_GRANT`. */
  readonly oauth?: TokenRefusal['oauth'];
  /** A text is the message of a 401. */
  readonly embed: TokenRefusal['embed'] | string;
}

/**
 * @rule 7.5 Any token validation failure is `invalid_grant`.
 * @rule D14 Every refused token gets the same bytes: only the log and the audit trail have the cause. Claims, and what the
 * client asks for beside the token, have words of their own.
 */
const INVALID_GRANT = { status: 400, error: 'invalid_grant', message: 'Token exchange failed' };
/** @rule 7.6 Missing or mistyped claims of a correctly signed token. */
const INVALID_CLAIMS = { status: 400, error: 'invalid_request', message: 'Token claims validation failed' };
/** The client does not learn which issuers the instance trusts: an unknown issuer and an unknown key have one answer. */
const KEY_UNKNOWN = { status: 401, error: 'key_unknown', message: 'No trusted key matches the token' };

/** RFC 6749 §5.2: the answer names no cause, so that ids cannot be tried. */
const INVALID_CLIENT = { status: 401, error: 'invalid_client', message: 'Client authentication failed' };

/** RFC 9449 §5. */
const INVALID_PROOF = {
  status: 400,
  error: 'invalid_dpop_proof',
  message: 'The DPoP proof is missing or not valid',
};

/** In the order of the checks: a token that fails one has passed those before. */
const ROWS = {
  client_credential_missing: {
    check: 'client',
    cause:
      'an identity assertion or an introspection request came without credentials of a client; public clients are refused',
    remedy: 'the client authenticates by `client_secret_basic`, `client_secret_post` or `private_key_jwt`',
    oauth: INVALID_CLIENT,
    embed: 'Client authentication failed',
  },
  client_unknown: {
    check: 'client',
    cause: 'no trusted entry names the client',
    remedy:
      'the operator adds the client to an entry (`svc-admin clients add`), or the client sends the id that the entry has',
    oauth: INVALID_CLIENT,
    embed: 'Client authentication failed',
  },
  client_credential_invalid: {
    check: 'client',
    cause: 'the secret of the client is wrong, or its JWT is not valid',
    remedy:
      'the client sends the secret that `svc-admin clients add` printed, or corrects its JWT: a key of the entry signs it, `iss` and `sub` are its id, `aud` is the issuer of this instance',
    oauth: INVALID_CLIENT,
    embed: 'Client authentication failed',
  },
  client_credential_replayed: {
    check: 'client',
    cause: 'the JWT by which the client authenticates was used before',
    remedy: 'the client signs a JWT for each request, with a random `jti`, and sends it once',
    oauth: INVALID_CLIENT,
    embed: 'Client authentication failed',
  },
  introspection_not_allowed: {
    check: 'client',
    cause: 'no trusted entry lets the client introspect access tokens',
    remedy:
      'the operator lets the client introspect (`svc-admin clients add --introspect`), in an entry that is neither suspended nor past its `notAfter`',
    oauth: { status: 403, error: 'unauthorized_client', message: 'The client may not introspect tokens' },
    embed: 'The client may not introspect tokens',
  },
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
    cause: 'the header of the token has no `kid`',
    remedy: 'the partner sets the `kid` of its key in the header',
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
      'the `typ` of the token says that the token has another purpose: it ends in `+jwt`, as that of an access token does, or has parameters; an identity assertion has another `typ` than its own or none, any other assertion one that is not `JWT`',
    remedy: 'the partner signs a token for this purpose, with the expected `typ`',
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
      'the token is bound to a key (`cnf`) in a way that is not supported: an embedded login takes no bound token, since its session would need no key; an exchange takes one that is bound by `jkt` alone',
    remedy: 'the partner signs a token without `cnf`, or for an exchange with `cnf.jkt` (RFC 9449)',
    embed: 'Token is bound to a key',
  },
  assertion_not_supported: {
    check: 'claims',
    cause:
      'the identity assertion has `authorization_details`, which the service cannot apply, or a `sub_id` of another format than `iss_sub`',
    remedy: 'the identity provider issues it with a `scope` and without these claims',
    embed: 'Token is not supported',
  },
  tenant_not_allowed: {
    check: 'claims',
    cause:
      'the identity assertion names a tenant that its entry does not list, or none although the entry lists some',
    remedy:
      'the operator lists each `tenant` and `aud_tenant` of the identity provider in `tenants` of the entry',
    embed: 'Tenant is not allowed',
  },
  assertion_grants_nothing: {
    check: 'claims',
    cause: 'the identity assertion names scopes, or services (`resource`), none of which its entry lists',
    remedy:
      'the identity provider issues it for this instance with scopes of the entry, or the operator adds to `scopes` or `resources` of the entry',
    embed: 'Token grants nothing here',
  },
  subject_not_allowed: {
    check: 'claims',
    cause: '`subjects` of the entry does not list the `sub` of the token',
    remedy:
      'the partner runs the job where the entry expects it, or the operator corrects `subjects` of the entry: upper and lower case differ, and `*` matches neither `:` nor `/`',
    embed: 'Subject is not allowed',
  },
  claim_not_allowed: {
    check: 'claims',
    cause: 'a claim that `claims` of the entry asks for is missing, or has another value or type',
    remedy:
      'the partner runs the job where the entry expects it, or the operator corrects `claims` of the entry',
    embed: 'Token claims do not match',
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
  client_not_allowed: {
    check: 'parties',
    cause:
      'the identity assertion names another client than the one that sent it, or its entry does not name that client',
    remedy:
      'the identity provider writes the id that the client has here into `client_id`, or the operator adds the client to the entry (`svc-admin clients add`)',
    embed: 'Client is not allowed',
  },
  actor_required: {
    check: 'parties',
    cause: 'the entry accepts its subjects only with an actor',
    remedy:
      'the partner exchanges the token together with an actor token, or the operator removes `requireActor` from the entry',
    embed: 'Token is accepted together with an actor only',
  },
  actor_not_allowed: {
    check: 'parties',
    cause: 'the subject token names another actor (`may_act`)',
    remedy: 'the partner names this actor in `may_act`, or sends the token of the named one',
    embed: 'Actor is not allowed',
  },
  act_for_not_allowed: {
    check: 'parties',
    cause: "the actor's entry does not let it act for subjects of this issuer",
    remedy: "the operator adds the issuer to `actFor` of the actor's entry",
    embed: 'Actor may not act for this subject',
  },
  origin_not_allowed: {
    check: 'origin',
    cause: 'no page of an origin that the entry lists has posted the login',
    remedy:
      'the partner posts the login from a page of one of these origins, or the operator adds the origin to `origins` of the entry',
    embed: 'Login is not accepted from this origin',
  },
  trust_revoked: {
    check: 'revocation',
    cause: 'the operator has revoked the key of the token, or every key of its issuer',
    remedy:
      'the partner signs with a new key; the operator undoes a mistaken revocation (`svc-admin keys restore`)',
    embed: 'Trust in the key of the token was revoked',
  },
  signed_out_by_provider: {
    check: 'revocation',
    cause: 'the provider has signed the user out since the token was issued, or in the same second',
    remedy: 'the partner signs the user in again at its provider, and signs a new token',
    embed: 'The user was signed out by the provider',
  },
  dpop_proof_missing: {
    check: 'proof',
    cause:
      'the token is bound to a key (`cnf.jkt`), or its entry has `requireDpop`, and the request has no DPoP proof',
    remedy:
      'the client sends a proof in the header `DPoP` (RFC 9449), and signs it with the key that the token is bound to',
    oauth: INVALID_PROOF,
    embed: 'The DPoP proof is missing',
  },
  dpop_proof_invalid: {
    check: 'proof',
    cause: 'the DPoP proof fails a check, which the line names; the token can still be used',
    remedy:
      'the client signs a proof (RFC 9449 §4.2) for each request, for POST and the public address of the token endpoint, and its clock is right',
    oauth: INVALID_PROOF,
    embed: 'The DPoP proof is not valid',
  },
  dpop_key_mismatch: {
    check: 'proof',
    cause:
      'another key has signed the DPoP proof than the one that the token is bound to, or the two tokens are bound to different keys',
    remedy:
      'the client signs the proof with the key of the token; the issuer binds both tokens to the same key',
    oauth: INVALID_PROOF,
    embed: 'The DPoP proof is by another key',
  },
  remaining_lifetime_too_short: {
    check: 'remaining lifetime',
    cause: 'the token expires too soon for an access token',
    remedy: 'the partner sends it sooner, or gives it a longer life',
    embed: 'Token is about to expire',
  },
  scope_not_allowed: {
    check: 'grants',
    cause: 'the entries allow none of the scopes that the client asks for',
    remedy:
      'the client asks for scopes that the entries of subject and actor list, or the operator adds to `scopes` of the entry',
    oauth: { status: 400, error: 'invalid_scope', message: 'None of the scopes can be granted' },
    embed: 'None of the scopes can be granted',
  },
  resource_not_allowed: {
    check: 'grants',
    cause: 'the client asks for a `resource` that the entry does not list, or for several',
    remedy:
      'the client asks for one that the entries of subject and actor list, or the operator adds it to `resources` of the entry',
    oauth: { status: 400, error: 'invalid_target', message: 'No token is issued for this resource' },
    embed: 'No token is issued for this resource',
  },
  access_token_too_large: {
    check: 'grants',
    cause: 'the access token would have more than 12,288 characters, too many for the headers of a request',
    remedy:
      'the client asks for a shorter `scope` or `resource`, or the partner sends a shorter chain of `act`',
    oauth: { status: 400, error: 'invalid_request', message: 'The access token would be too large' },
    embed: 'The access token would be too large',
  },
  token_replayed: {
    check: 'replay',
    cause: 'a token with this `jti` was used before, in this flow or another, by this issuer or another',
    remedy:
      'the partner signs a token for each use, also for a retry, with a random `jti`, and sends it once',
    embed: 'Token has already been used',
  },
  dpop_proof_replayed: {
    check: 'replay',
    cause: 'the DPoP proof was used before; the token is used up by this request',
    remedy:
      'the client signs a proof for each request, with a random `jti`; a retry needs a new proof and a new token',
    oauth: INVALID_PROOF,
    embed: 'The DPoP proof has already been used',
  },
  email_missing: {
    check: 'e-mail',
    cause: 'the user is unknown, and the token has no `email` by which to find or create a user',
    remedy: 'the partner puts `email` into the token',
    embed: 'Token has no e-mail address for a new user',
  },
  email_not_verified: {
    check: 'e-mail',
    cause:
      'the user is unknown, and the token does not say that the e-mail address is verified (`email_verified`)',
    remedy:
      'the partner sets `email_verified` to true for addresses that it has verified (in Keycloak *Email verified* of the user, in Okta a claim), or the operator sets `requireVerifiedEmail` of the entry to false and lists its `emailDomains`',
    embed: 'The e-mail address is not verified',
  },
  email_domain_not_allowed: {
    check: 'e-mail',
    cause: 'the user is unknown, and the entry does not list the domain of the e-mail address',
    remedy: 'the operator adds the domain to `emailDomains` of the entry, or the user takes another address',
    embed: 'The e-mail domain is not allowed',
  },
  linking_not_allowed: {
    check: 'admission',
    cause: 'a user with the e-mail address exists, and the entry may not link to existing users',
    remedy: 'the operator sets `linkExistingUsers` of the entry, or the user takes another address',
    embed: 'The user exists, and may not be linked',
  },
  privileged_linking_not_allowed: {
    check: 'admission',
    cause:
      'the user with the e-mail address is the owner or an administrator, to whom the entry may not link',
    remedy: 'the operator sets `linkPrivileged` of the entry, if this partner may sign in as that user',
    embed: 'The user is an administrator, and may not be linked',
  },
  provisioning_not_allowed: {
    check: 'admission',
    cause: 'the user is unknown, and the entry may not create users',
    remedy: 'the operator creates the user (`svc-admin users create`), or sets `provisionUsers` of the entry',
    embed: 'The user is not known',
  },
  stored_role_not_allowed: {
    check: 'user',
    cause: 'the entry does not allow the role that the user has here',
    remedy: 'the operator changes the role of the user, or `allowedRoles` or `roleCeiling` of the entry',
    embed: "The user's role is not allowed",
  },
  owner_excluded: {
    check: 'user',
    cause: 'the user is the owner, and the entry excludes the owner, as every entry with `signInAs` does',
    remedy:
      'the owner signs in another way, or the operator removes `excludeOwner` from the entry; `signInAs` must name another user',
    embed: 'The owner is not allowed',
  },
  named_user_unknown: {
    check: 'user',
    cause: 'no user has the id that the entry names by `signInAs`, or no longer',
    remedy: 'the operator names another user in `signInAs` of the entry, or removes the entry',
    embed: 'The user is not known',
  },
  named_administrator_not_allowed: {
    check: 'user',
    cause:
      'the user whom the entry names by `signInAs` is an administrator, and somebody other than the owner set the entry',
    remedy:
      'the owner sets the entry again, by a command or on the operator page, or the operator names another user',
    embed: 'The user is an administrator, and may not be named',
  },
  user_disabled: {
    check: 'user',
    cause: 'the user of the token is disabled',
    remedy: 'the operator enables the user (`svc-admin users enable`), if the user may sign in again',
    embed: 'User is disabled',
  },
  user_mismatch: {
    check: 'user',
    cause:
      '`aud_sub` of the identity assertion names another user than the one whom `iss` and `sub` name here',
    remedy:
      'the identity provider writes the id that the user has here (`svc-admin users list`) into `aud_sub`, or leaves it out',
    embed: 'The token names another user',
  },
  session_of_another_user: {
    check: 'user',
    cause: 'the token belongs to another user than the session that it should renew',
    remedy: 'the partner renews the session with a token of its user, and signs another user in by a login',
    embed: 'The session is that of another user',
  },
  role_not_allowed: {
    check: 'role',
    cause: 'the entry does not allow the role that the token asks for',
    remedy:
      'the partner asks for a role that is allowed, or for none, or the operator adds the role to `allowedRoles` of the entry',
    embed: 'Role is not allowed',
  },
  role_not_recognized: {
    check: 'role',
    cause: 'no role has the name that the token asks for',
    remedy: 'the partner corrects the claim `role`, or leaves it out',
    embed: 'Role is not recognized',
  },
  role_not_assignable: {
    check: 'role',
    cause: 'the token asks for the role of the owner, which no token can assign',
    remedy: 'the partner asks for another role, or for none',
    embed: 'Role cannot be assigned',
  },
  project_not_allowed: {
    check: 'projects',
    cause: 'the token names a project that its entry may not assign',
    remedy:
      'the partner corrects the key of the project, or the operator adds the key to `projects.mayAssign` of the entry',
    embed: 'Project is not allowed',
  },
  project_role_not_allowed: {
    check: 'projects',
    cause: 'the token names a role in a project that its entry may not assign',
    remedy:
      'the partner names a role that is expected, or the operator adds the role to `projects.roles` of the entry',
    embed: 'Role in the project is not allowed',
  },
  project_unknown: {
    check: 'projects',
    cause: 'no project has the key that the token names, and the entry may not create one',
    remedy:
      'the operator gives a project this key (`svc-admin projects set-key`), or sets `projects.create` of the entry',
    embed: 'Project is not known',
  },
} satisfies Record<string, Row>;

/** Every reason why a token, or a pair of tokens, is refused. */
export type RejectionReason = keyof typeof ROWS;

/**
 * @rule 7.7 A token that fails at embedded login gets 401 and a message that says why.
 * @rule 7.8 Missing or mistyped claims at embedded login get 500.
 * @rule D18 The answers of embedded login have a stable word for programs beside the message.
 * @rule D78 Every refusal has one cause and one remedy in words, here and in refusals.ts; docs/refusals.md is written from them.
 */
export const TOKEN_REFUSALS = Object.fromEntries(
  Object.entries<Row>(ROWS).map(([reason, row]) => [reason, refusalOf(row)]),
) as Readonly<Record<RejectionReason, TokenRefusal>>;

function refusalOf({ check, cause, remedy, oauth = INVALID_GRANT, embed }: Row): TokenRefusal {
  const answer = typeof embed === 'string' ? { status: 401, message: embed } : embed;
  return { check, cause, remedy, oauth, embed: answer };
}
