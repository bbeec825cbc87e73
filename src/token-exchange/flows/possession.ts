// Has the sender of verified tokens show that it holds the key to which they are bound, or to which the access token will be (DPoP).
import type { SubjectOrActor } from '../refusals/rejection.js';
import { Rejection } from '../refusals/rejection.js';
import type { DpopProofs, ProvingRequest } from '../tokens/dpop-proofs.js';
import type { DpopProof } from '../verify/dpop-proof.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import type { Tokens } from '../verify/tokens.js';

/**
 * Checks the proof of a request, once its tokens are verified, so that strangers cause no second verification.
 * A token that is bound to a key is taken with a proof by that key only, and what it gets is bound to it again (D140).
 * @returns the tokens with the proof, if there is one
 * @throws Rejection `dpop_proof_missing`, `dpop_proof_invalid`, `dpop_key_mismatch`
 * @throws DpopNonceRequired
 */
export async function withProof(
  tokens: Tokens,
  request: ProvingRequest,
  proofs: DpopProofs,
): Promise<Tokens> {
  const proof = await proofs.verify(request);
  refuseWithoutKey(tokens, proof);
  if (proof === undefined) return tokens;
  proofs.checkNonce(proof);
  return { ...tokens, proof };
}

/**
 * Two tokens that are bound to different keys have no proof that fits.
 * @rule P.requireDpop Where the entry asks for a proof, no access token is issued without one.
 * @throws Rejection
 */
export function refuseWithoutKey({ subject, actor }: Tokens, proof: DpopProof | undefined): void {
  refuseFor('subject', subject, proof);
  if (actor !== undefined) refuseFor('actor', actor, proof);
}

function refuseFor(party: SubjectOrActor, token: VerifiedToken, proof: DpopProof | undefined): void {
  const { boundTo, key } = token;
  const context = { party, ...issuerAndKid(token) };
  const isAskedFor = boundTo !== undefined || key.policy.requireDpop === true;
  if (proof === undefined && isAskedFor) throw new Rejection('dpop_proof_missing', context);
  if (proof !== undefined && boundTo !== undefined && boundTo !== proof.thumbprint)
    throw new Rejection('dpop_key_mismatch', { ...context, expected: boundTo, found: proof.thumbprint });
}
