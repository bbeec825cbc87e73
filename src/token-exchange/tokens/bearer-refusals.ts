// Why an access token or a session is refused where it is presented (RFC 6750). All get the same 401.
import type { Explanation } from '../refusals/refusal.js';

export const BEARER_REFUSALS = {
  malformed: {
    cause: '`Authorization` has no Bearer or DPoP credential, or its token is not a JWT',
    remedy: 'the client sends `access_token` unchanged, by the scheme of its `token_type`',
  },
  not_issued_here: {
    cause: 'no key of this instance signed the token as an access token of this address',
    remedy:
      "the client exchanges the partner's token first; the operator gives all instances the same address",
  },
  other_audience: {
    cause: 'the access token was issued for another service (`resource`)',
    remedy: 'the client requests a token without `resource`',
  },
  expired: {
    cause: 'the access token has expired',
    remedy: 'the client exchanges a new token before `expires_in` is over',
  },
  revoked: {
    cause: 'the access token was ended by its holder, a sign-out of its user or a revoked key',
    remedy:
      'the client exchanges again; `svc-admin keys revocations` lists revoked keys, the audit trail the rest',
  },
  privileged_user_not_allowed: {
    cause: "an administrator's entry signed for the access token, and its user has become an administrator",
    remedy: 'the user signs in by an entry that the owner set',
  },
  token_not_bound: {
    cause: 'the access token is not bound to a key, but came by the scheme `DPoP`',
    remedy: "the client uses the scheme of the token's `token_type`",
  },
  dpop_proof_missing: {
    cause: 'the bound access token or session came without a DPoP proof, perhaps from a thief',
    remedy: 'the client sends `Authorization: DPoP` and a proof for each call',
  },
  dpop_proof_invalid: {
    cause: "the call's DPoP proof fails the named check",
    remedy:
      "the client signs each proof for the call's method, public address and access token (RFC 9449 §4.2), and checks its clock",
  },
  dpop_key_mismatch: {
    cause: "another key signed the call's DPoP proof",
    remedy: "the client signs with the token's key, or exchanges or signs in again",
  },
  dpop_nonce_required: {
    cause: "the call's DPoP proof has no valid nonce",
    remedy: "the client repeats the call with the answer's `DPoP-Nonce`",
  },
  dpop_proof_replayed: {
    cause: "the call's DPoP proof was used before",
    remedy: 'the client signs a proof with a random `jti` for each call and retry',
  },
  user_unknown: {
    cause: "the access token's user or actor no longer exists",
    remedy: 'the client exchanges again, which may create the user',
  },
  user_disabled: {
    cause: "the access token's user or actor is disabled",
    remedy: 'the operator enables the user (`svc-admin users enable`), if appropriate',
  },
} as const satisfies Record<string, Explanation>;

export type BearerReason = keyof typeof BEARER_REFUSALS;
