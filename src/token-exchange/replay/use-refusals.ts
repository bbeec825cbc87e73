// Why a valid token is refused here: who sends it from where, with which proof, what for, and how often.
import type { TokenRefusal } from '../refusals/refusals.js';

/** RFC 9449 §5. */
const INVALID_PROOF = {
  status: 400,
  error: 'invalid_dpop_proof',
  message: 'The DPoP proof is missing or not valid',
};

/** In the order of the checks. */
export const USE_REFUSALS = {
  client_not_allowed: {
    check: 'parties',
    cause:
      'the identity assertion names another client than the one that sent it, or its entry does not name that client',
    remedy:
      'the identity provider writes the id that the client has here into `client_id`, or the operator adds the client to the entry (`svc-admin clients add`)',
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
  },
  act_for_not_allowed: {
    check: 'parties',
    cause: "the actor's entry does not let it act for subjects of this issuer",
    remedy: "the operator adds the issuer to `actFor` of the actor's entry",
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
      'the request has no DPoP proof, although the token is bound to a key (`cnf.jkt`), its entry has `requireDpop`, or the login asks for a bound session',
    remedy:
      'the client sends a proof in the header `DPoP` (RFC 9449), and signs it with the key that the token is bound to',
    oauth: INVALID_PROOF,
    embed: INVALID_PROOF,
  },
  dpop_proof_invalid: {
    check: 'proof',
    cause: 'the DPoP proof fails a check, which the line names; the token can still be used',
    remedy:
      'the client signs a proof (RFC 9449 §4.2) for each request, for POST and the public address of the endpoint, with `ath` if it renews a session, and its clock is right',
    oauth: INVALID_PROOF,
    embed: INVALID_PROOF,
  },
  dpop_key_mismatch: {
    check: 'proof',
    cause:
      'another key has signed the DPoP proof than the one that the token is bound to, or the two tokens are bound to different keys',
    remedy:
      'the client signs the proof with the key of the token; the issuer binds both tokens to the same key',
    oauth: INVALID_PROOF,
    embed: INVALID_PROOF,
  },
  remaining_lifetime_too_short: {
    check: 'remaining lifetime',
    cause: 'the token expires too soon for an access token',
    remedy: 'the partner sends it sooner, or gives it a longer life',
  },
  scope_not_allowed: {
    check: 'grants',
    cause: 'the entries allow none of the scopes that the client asks for',
    remedy:
      'the client asks for scopes that the entries of subject and actor list, or the operator adds to `scopes` of the entry',
    oauth: { status: 400, error: 'invalid_scope', message: 'None of the scopes can be granted' },
  },
  resource_not_allowed: {
    check: 'grants',
    cause: 'the client asks for a `resource` that the entry does not list, or for several',
    remedy:
      'the client asks for one that the entries of subject and actor list, or the operator adds it to `resources` of the entry',
    oauth: { status: 400, error: 'invalid_target', message: 'No token is issued for this resource' },
  },
  access_token_too_large: {
    check: 'grants',
    cause: 'the access token would have more than 12,288 characters, too many for the headers of a request',
    remedy:
      'the client asks for a shorter `scope` or `resource`, or the partner sends a shorter chain of `act`',
    oauth: { status: 400, error: 'invalid_request', message: 'The access token would be too large' },
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
    embed: INVALID_PROOF,
  },
} satisfies Record<string, TokenRefusal>;
