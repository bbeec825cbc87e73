// Why a request is refused for its DPoP proof.
import type { RequestRefusal, TokenRefusal } from '../refusals/refusal.js';

/** RFC 9449 §5. */
const INVALID_PROOF = {
  status: 400,
  error: 'invalid_dpop_proof',
  message: 'The DPoP proof is missing or not valid',
};

export const DPOP_REFUSALS = {
  dpop_proof_missing: {
    check: 'proof',
    cause: 'the token (`cnf.jkt`), its entry (`requireDpop`) or the session requires a DPoP proof',
    remedy: "send `DPoP` (RFC 9449), signed by the token's key",
    oauth: INVALID_PROOF,
    embed: INVALID_PROOF,
  },
  dpop_proof_invalid: {
    check: 'proof',
    cause: 'the DPoP proof fails the named check; the token can still be used',
    remedy: "sign each proof for POST and the endpoint's public address (RFC 9449 §4.2), and check the clock",
    oauth: INVALID_PROOF,
    embed: INVALID_PROOF,
  },
  dpop_key_mismatch: {
    check: 'proof',
    cause: 'another key signed the DPoP proof, or the two tokens are bound to different keys',
    remedy: "sign with the token's key; bind both tokens to one key",
    oauth: INVALID_PROOF,
    embed: INVALID_PROOF,
  },
  dpop_proof_replayed: {
    check: 'replay',
    cause: 'the DPoP proof was used before; the token is used up too',
    remedy: 'sign each proof with a random `jti`, and retry with a new token',
    oauth: INVALID_PROOF,
    embed: INVALID_PROOF,
  },
} satisfies Record<string, TokenRefusal>;

export const DPOP_REQUEST_REFUSALS = {
  dpop_nonce_required: {
    check: 'proof',
    cause: 'the DPoP proof has no valid nonce; only a client assertion is used up',
    remedy: "repeat the request with the answer's `DPoP-Nonce`",
    status: 400,
    oauth: 'use_dpop_nonce',
    embed: 'use_dpop_nonce',
    isSilent: true,
  },
} satisfies Record<string, RequestRefusal>;
