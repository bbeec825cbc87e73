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
      'an identity assertion or an introspection came without credentials of a client; public clients are refused',
    remedy: 'the client authenticates by `client_secret_basic`, `client_secret_post` or `private_key_jwt`',
    oauth: INVALID_CLIENT,
    embed: 'Client authentication failed',
  },
  client_unknown: {
    check: 'client',
    cause: 'no trusted entry names the client',
    remedy: '`svc-admin clients add` adds it to an entry, or the client sends the id that the entry has',
    oauth: INVALID_CLIENT,
    embed: 'Client authentication failed',
  },
  client_credential_invalid: {
    check: 'client',
    cause: 'the secret of the client is wrong, or its JWT is not valid',
    remedy:
      'the client sends the secret that `svc-admin clients add` has shown, or corrects its JWT: signed by a key of the entry, `iss` and `sub` its id, `aud` the issuer of this instance',
    oauth: INVALID_CLIENT,
    embed: 'Client authentication failed',
  },
  client_credential_replayed: {
    check: 'client',
    cause: 'the client has authenticated by a JWT that was used before',
    remedy: 'the client signs a JWT for each request, with a random `jti`, and sends it once',
    oauth: INVALID_CLIENT,
    embed: 'Client authentication failed',
  },
  introspection_not_allowed: {
    check: 'client',
    cause: 'no trusted entry lets the client introspect access tokens',
    remedy:
      '`introspect` of the client is set true (`svc-admin clients add --introspect`), in an entry that is neither suspended nor past its `notAfter`',
    oauth: { status: 403, error: 'unauthorized_client', message: 'The client may not introspect tokens' },
    embed: 'The client may not introspect tokens',
  },
  token_malformed: {
    check: 'token',
    cause:
      'the token is not a signed JWT in compact form: three parts in base64url without padding, of JSON objects without repeated members',
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
      'the `typ` of the token ends in `+jwt` or has parameters, so it is meant for another purpose, such as an access token; or an identity assertion has none, or another assertion one that is not `JWT`',
    remedy: 'the partner signs a token for this purpose, with the `typ` that the line expects',
    embed: 'Token type is not accepted',
  },
  algorithm_not_allowed: {
    check: 'header',
    cause:
      'the token is signed with an algorithm that its key does not serve; HMAC and none are never accepted',
    remedy:
      'the partner signs with an expected algorithm, or the `algorithms` of the entry are corrected; an RSA key of a key set serves PS256, PS384 or PS512 only if its `alg` names it',
    embed: 'Token algorithm is not allowed',
  },
  issuer_unknown: {
    check: 'key',
    cause: 'no trusted key entry has the `iss` of the token, compared character by character',
    remedy: 'the partner writes `iss` exactly as the entry has it, or an entry for this issuer is added',
    embed: KEY_UNKNOWN,
  },
  key_set_unavailable: {
    check: 'key',
    cause:
      'the key set of the issuer serves no key: it was never fetched, its keys have served their time, or it has no usable key',
    remedy:
      'the partner repairs its key set at the address of the entry, and `svc-admin keys refresh` fetches it; `keys status` says what is wrong with it',
    embed: KEY_UNKNOWN,
  },
  kid_unknown: {
    check: 'key',
    cause: 'the issuer is trusted, but has no known key with the `kid` of the token',
    remedy:
      'the partner uses the `kid` of a known key or publishes the key, or an entry for it is added; `svc-admin keys status` lists fetched keys',
    embed: KEY_UNKNOWN,
  },
  signature_invalid: {
    check: 'signature',
    cause:
      'the signature does not match the key of this issuer and `kid`: another key signed, or the token was changed',
    remedy:
      'the partner compares the thumbprint (RFC 7638) of its signing key; if it has changed its key, the entry is replaced, with a new `kid`',
    embed: 'Token signature is invalid',
  },
  entry_suspended: {
    check: 'trust',
    cause: 'the trusted key entry is suspended',
    remedy: '`svc-admin keys resume` resumes it',
    embed: 'Trust in the issuer of the token is suspended',
  },
  trust_ended: {
    check: 'trust',
    cause: 'trust in the entry ended at its `notAfter`',
    remedy: '`notAfter` of the entry is moved, if the partner is still trusted',
    embed: 'Trust in the issuer of the token has ended',
  },
  flow_not_allowed: {
    check: 'trust',
    cause: 'the entry does not allow this flow',
    remedy: '`flows` of the entry is widened, or the partner uses the other flow',
    embed: 'Token is not accepted for embedded login',
  },
  claims_invalid: {
    check: 'claims',
    cause: 'a required claim is missing, or a claim is not of its type',
    remedy: 'the partner corrects the claim that is named',
    oauth: INVALID_CLAIMS,
    embed: { status: 500, message: 'Token claims validation failed' },
  },
  claims_not_storable: {
    check: 'claims',
    cause: 'a claim has text that cannot be stored, or is too long',
    remedy: 'the partner corrects the claim that is named',
    embed: 'Token claims cannot be processed',
  },
  confirmation_not_supported: {
    check: 'claims',
    cause:
      'the token is bound to a key (`cnf`) in a way that is not supported: at an embedded login in any, since a session would be good without the key, else in any other way than by `jkt` alone',
    remedy: 'the partner signs a token without `cnf`, or for an exchange with `cnf.jkt` (RFC 9449)',
    embed: 'Token is bound to a key',
  },
  assertion_not_supported: {
    check: 'claims',
    cause:
      'the identity assertion has `authorization_details`, without which it would be wider, or a `sub_id` of another format than `iss_sub`',
    remedy: 'the identity provider issues it with a `scope`, and without them',
    embed: 'Token is not supported',
  },
  tenant_not_allowed: {
    check: 'claims',
    cause:
      'the identity assertion names another tenant than its entry lists, none although it lists some, or one although it lists none',
    remedy: '`tenants` of the entry has each `tenant` and `aud_tenant` that the identity provider writes',
    embed: 'Tenant is not allowed',
  },
  assertion_grants_nothing: {
    check: 'claims',
    cause: 'the identity assertion names scopes, or services (`resource`), none of which its entry lists',
    remedy:
      'the identity provider issues it for this instance, with scopes of the entry, or `scopes` or `resources` of the entry is widened',
    embed: 'Token grants nothing here',
  },
  subject_not_allowed: {
    check: 'claims',
    cause: 'the `sub` of the token is none of the `subjects` of its entry',
    remedy:
      'the job runs where the entry expects it, or `subjects` of the entry is corrected: letters count as they are, and `*` stands for no `:` or `/`',
    embed: 'Subject is not allowed',
  },
  claim_not_allowed: {
    check: 'claims',
    cause: 'a claim of the token is not there, or is not what `claims` of its entry says, in value and type',
    remedy: 'the token comes from where the entry expects it, or `claims` of the entry is corrected',
    embed: 'Token claims do not match',
  },
  audience_mismatch: {
    check: 'audience',
    cause:
      'the token is for another audience than its entry expects; an assertion, not for this instance alone',
    remedy: 'the partner puts the expected value into `aud`, or `expectedAudience` of the entry is corrected',
    embed: 'Token audience does not match',
  },
  token_expired: {
    check: 'times',
    cause: 'the token has expired by the clock of this service; at `exp` there is no tolerance',
    remedy:
      "the partner signs a token for each use and sends it at once; if it was new, its clock or this machine's is wrong",
    embed: 'Token has expired',
  },
  token_not_yet_valid: {
    check: 'times',
    cause: 'the `nbf` of the token is in the future, beyond the tolerance',
    remedy: "the partner's clock or this machine's is wrong, or `nbf` is set too late",
    embed: 'Token is not valid yet',
  },
  token_issued_in_future: {
    check: 'times',
    cause: 'the `iat` of the token is in the future, beyond the tolerance',
    remedy: "the partner's clock is ahead, or this machine's is behind: one of them needs NTP",
    embed: 'Token was issued in the future',
  },
  token_lifetime_exceeded: {
    check: 'lifetime',
    cause: 'the token lives longer than an embedded login or an identity assertion may, from `iat` to `exp`',
    remedy: 'the partner sets `exp` within the limit after `iat`',
    embed: 'Token lifetime exceeds maximum allowed',
  },
  client_not_allowed: {
    check: 'parties',
    cause:
      'the identity assertion names another client than the one that sent it, or its entry does not name that client',
    remedy:
      'the identity provider writes the id that the client has here into `client_id`, or `svc-admin clients add` adds the client to the entry',
    embed: 'Client is not allowed',
  },
  actor_required: {
    check: 'parties',
    cause: 'the entry accepts its subjects only with an actor',
    remedy:
      'the partner exchanges the token together with an actor token, or `requireActor` of the entry is removed',
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
    remedy: "`actFor` of the actor's entry is widened",
    embed: 'Actor may not act for this subject',
  },
  origin_not_allowed: {
    check: 'origin',
    cause: 'the login did not come as a post from an origin that the entry names',
    remedy: 'the page of the partner posts from one of them, or `origins` of the entry is widened',
    embed: 'Login is not accepted from this origin',
  },
  trust_revoked: {
    check: 'revocation',
    cause: 'trust in the key of the token was revoked',
    remedy: 'the partner signs with a new key; `svc-admin keys restore` undoes a mistaken revocation',
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
      'the client sends a proof in the header `DPoP` (RFC 9449), by the key of the token where it is bound to one',
    oauth: INVALID_PROOF,
    embed: 'The DPoP proof is missing',
  },
  dpop_proof_invalid: {
    check: 'proof',
    cause: 'the DPoP proof does not pass the check that the line names; the token is not used up',
    remedy:
      'the client signs a proof (RFC 9449 §4.2) for each request, for POST and the public address of the token endpoint, by a clock that is right',
    oauth: INVALID_PROOF,
    embed: 'The DPoP proof is not valid',
  },
  dpop_key_mismatch: {
    check: 'proof',
    cause:
      'the DPoP proof is by another key than the one that the token is bound to, or the two tokens are bound to different keys',
    remedy: 'the client proves the key of the token; the issuer binds both tokens to the same key',
    oauth: INVALID_PROOF,
    embed: 'The DPoP proof is by another key',
  },
  remaining_lifetime_too_short: {
    check: 'remaining lifetime',
    cause: 'the token expires too soon to issue an access token',
    remedy: 'the partner sends it sooner, or gives it a longer life',
    embed: 'Token is about to expire',
  },
  scope_not_allowed: {
    check: 'grants',
    cause: 'none of the scopes that were asked for can be granted',
    remedy:
      'the client asks for scopes that the entries of subject and actor list, or `scopes` of the entry is widened',
    oauth: { status: 400, error: 'invalid_scope', message: 'None of the scopes can be granted' },
    embed: 'None of the scopes can be granted',
  },
  resource_not_allowed: {
    check: 'grants',
    cause: 'no token is issued for the requested `resource`: several, or one that is not listed',
    remedy:
      'the client asks for one that the entries of subject and actor list, or `resources` of the entry is widened',
    oauth: { status: 400, error: 'invalid_target', message: 'No token is issued for this resource' },
    embed: 'No token is issued for this resource',
  },
  access_token_too_large: {
    check: 'grants',
    cause: 'the access token would have over 12,288 characters, more than the headers of a request take',
    remedy:
      'the client asks for a shorter `scope` or `resource`, or the partner sends a shorter chain of `act`',
    oauth: { status: 400, error: 'invalid_request', message: 'The access token would be too large' },
    embed: 'The access token would be too large',
  },
  token_replayed: {
    check: 'replay',
    cause: 'a token with this `jti` was used before, in either flow, by this issuer or another',
    remedy:
      'the partner signs a token for each use, with a random `jti` that no other issuer can have used, and sends it once; a retry needs a new one',
    embed: 'Token has already been used',
  },
  dpop_proof_replayed: {
    check: 'replay',
    cause: 'the DPoP proof was used before; the token is used up',
    remedy:
      'the client signs a proof for each request, with a random `jti`, and for a retry another proof and another token',
    oauth: INVALID_PROOF,
    embed: 'The DPoP proof has already been used',
  },
  email_missing: {
    check: 'e-mail',
    cause: 'the user is unknown, and the token has no `email` to find or create one',
    remedy: 'the partner puts `email` into the token',
    embed: 'Token has no e-mail address for a new user',
  },
  email_not_verified: {
    check: 'e-mail',
    cause: 'the user is unknown, and the issuer does not state that the e-mail address is verified',
    remedy:
      'the partner sets `email_verified` true for addresses that it has verified; so does a provider by its setting: *Email verified* of the user in Keycloak, a claim `email_verified` in Okta; or `requireVerifiedEmail` of the entry is false beside its `emailDomains`',
    embed: 'The e-mail address is not verified',
  },
  email_domain_not_allowed: {
    check: 'e-mail',
    cause: 'the user is unknown, and the entry does not list the domain of the e-mail address',
    remedy: '`emailDomains` of the entry is widened, or the user needs another address',
    embed: 'The e-mail domain is not allowed',
  },
  linking_not_allowed: {
    check: 'admission',
    cause: 'a user with the e-mail address exists, and the entry may not link to existing users',
    remedy: '`linkExistingUsers` of the entry is set, or the user needs another address',
    embed: 'The user exists, and may not be linked',
  },
  privileged_linking_not_allowed: {
    check: 'admission',
    cause:
      'the user with the e-mail address is the owner or an administrator, to whom the entry may not link',
    remedy: 'if this partner may sign in as that user, `linkPrivileged` of the entry is set',
    embed: 'The user is an administrator, and may not be linked',
  },
  provisioning_not_allowed: {
    check: 'admission',
    cause: 'the user is unknown, and the entry may not create users',
    remedy: 'the user is created first (`svc-admin users create`), or `provisionUsers` of the entry is set',
    embed: 'The user is not known',
  },
  stored_role_not_allowed: {
    check: 'user',
    cause: "the entry does not allow the user's stored role",
    remedy: "the user's role is changed, or `allowedRoles` or `roleCeiling` of the entry",
    embed: "The user's role is not allowed",
  },
  owner_excluded: {
    check: 'user',
    cause: 'the user is the owner, and the entry excludes the owner, as every entry with `signInAs` does',
    remedy:
      'the owner signs in another way, or `excludeOwner` of the entry is removed; `signInAs` names another user',
    embed: 'The owner is not allowed',
  },
  named_user_unknown: {
    check: 'user',
    cause: 'there is no user with the id that the entry names by `signInAs`, or no longer',
    remedy: '`signInAs` of the entry names another user, or the entry is removed',
    embed: 'The user is not known',
  },
  named_administrator_not_allowed: {
    check: 'user',
    cause:
      'the user whom the entry names by `signInAs` is an administrator, and another than the owner set the entry',
    remedy: 'the owner sets the entry anew, by a command or at the operator page, or it names another user',
    embed: 'The user is an administrator, and may not be named',
  },
  user_disabled: {
    check: 'user',
    cause: 'the user of the token is disabled',
    remedy: '`svc-admin users enable`, if the user may sign in again',
    embed: 'User is disabled',
  },
  user_mismatch: {
    check: 'user',
    cause: 'the identity assertion names another user by `aud_sub` than `iss` and `sub` mean here',
    remedy:
      'the identity provider writes the id that the user has here (`svc-admin users list`) into `aud_sub`, or leaves it out',
    embed: 'The token names another user',
  },
  session_of_another_user: {
    check: 'user',
    cause: 'the token belongs to another user than the session that it should renew',
    remedy: 'the partner renews with a token of the signed-in user, and uses a login for another one',
    embed: 'The session is that of another user',
  },
  role_not_allowed: {
    check: 'role',
    cause: 'the entry does not allow the role that the token asks for',
    remedy:
      'the partner asks for a role that is allowed, or for none, or `allowedRoles` of the entry is widened',
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
    cause: 'the token asks for the role of owner, which no token can assign',
    remedy: 'the partner asks for another role, or for none',
    embed: 'Role cannot be assigned',
  },
  project_not_allowed: {
    check: 'projects',
    cause: 'the token names a project that its entry may not assign',
    remedy: 'the partner corrects the key of the project, or `projects.mayAssign` of the entry is widened',
    embed: 'Project is not allowed',
  },
  project_role_not_allowed: {
    check: 'projects',
    cause: 'the token names a role in a project that its entry may not assign',
    remedy: 'the partner names a role that is expected, or `projects.roles` of the entry is widened',
    embed: 'Role in the project is not allowed',
  },
  project_unknown: {
    check: 'projects',
    cause: 'no project has the key that the token names, and the entry may not create one',
    remedy:
      '`svc-admin projects set-key` gives a project that key, or `projects.create` of the entry is allowed',
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
