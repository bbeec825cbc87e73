// Why an access token or a session is refused where it is presented (RFC 6750). All get the same 401.
import type { Explanation } from '../refusals/refusal.js';

export const BEARER_REFUSALS = {
  malformed: {
    cause: '`Authorization` has no Bearer or DPoP credential, or its token is not a JWT',
    remedy: 'send `access_token` unchanged, by the scheme of its `token_type`',
  },
  not_issued_here: {
    cause: 'this instance has not issued the access token, or its address has changed',
    remedy: "exchange the partner's token first; give all instances the same address",
  },
  other_audience: {
    cause: 'the access token was issued for another service (`resource`)',
    remedy: 'request a token without `resource`',
  },
  expired: {
    cause: 'the access token has expired',
    remedy: 'exchange again before `expires_in` has passed',
  },
  revoked: {
    cause: 'its holder, a sign-out or a revoked key ended the access token',
    remedy: 'exchange again; the audit trail has the cause',
  },
  privileged_user_not_allowed: {
    cause: 'the user has become an administrator, but signed in by an entry that an administrator stored',
    remedy: 'sign in by an entry that the owner stored',
  },
  token_not_bound: {
    cause: 'the access token is not bound to a key, but came by the scheme `DPoP`',
    remedy: 'use the scheme of its `token_type`',
  },
  dpop_proof_missing: {
    cause: 'the bound access token or session came without a DPoP proof',
    remedy: 'send `Authorization: DPoP` and a proof for each call',
  },
  dpop_proof_invalid: {
    cause: "the call's DPoP proof fails the named check",
    remedy:
      "sign each proof for the call's method, public address and access token (RFC 9449 §4.2), and check the clock",
  },
  dpop_key_mismatch: {
    cause: "another key signed the call's DPoP proof",
    remedy: "sign with the token's key, or exchange or sign in again",
  },
  dpop_nonce_required: {
    cause: "the call's DPoP proof has no valid nonce",
    remedy: "repeat the call with the answer's `DPoP-Nonce`",
  },
  dpop_proof_replayed: {
    cause: "the call's DPoP proof was used before",
    remedy: 'sign a proof with a random `jti` for each call and retry',
  },
  user_unknown: {
    cause: "the access token's user or actor no longer exists",
    remedy: 'exchange again, which may create the user',
  },
  user_disabled: {
    cause: "the access token's user or actor is disabled",
    remedy: 'enable the user (`svc-admin users enable`)',
  },
} as const satisfies Record<string, Explanation>;

export type BearerReason = keyof typeof BEARER_REFUSALS;
