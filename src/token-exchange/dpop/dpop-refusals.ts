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
  dpop_proof_replayed: {
    check: 'replay',
    cause: 'the DPoP proof was used before; the token is used up by this request',
    remedy:
      'the client signs a proof for each request, with a random `jti`; a retry needs a new proof and a new token',
    oauth: INVALID_PROOF,
    embed: INVALID_PROOF,
  },
} satisfies Record<string, TokenRefusal>;

export const DPOP_REQUEST_REFUSALS = {
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
