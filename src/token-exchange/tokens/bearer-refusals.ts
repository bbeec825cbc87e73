// Why an access token or a session is refused where it is presented (RFC 6750). All get the same 401.
import type { Explanation } from '../refusals/refusal.js';

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
