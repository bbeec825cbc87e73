// Refuses verified tokens whose key is revoked.
import type { RejectionContext } from '../rejection.js';
import { Rejection } from '../rejection.js';
import type { Revocations } from '../revocation/revocations.js';
import type { VerifiedToken } from './external-token.verifier.js';
import { issuerAndKid } from './external-token.verifier.js';

/**
 * Asked before anything is used up. See `refuseRevokedSince` for the rest.
 * @throws Rejection `trust_revoked`
 * @throws TemporarilyUnavailableException where it is not known at present what has been revoked
 */
export function refuseRevokedTrust(
  revocations: Revocations,
  token: VerifiedToken,
  context: RejectionContext = {},
): void {
  revocations.ensureKnown();
  refuseRevokedSince(revocations, token, context);
}

/**
 * Asked again right before something is handed out, by what is known then: the token is used up, so nobody is sent away to send
 * it again. A revocation that comes in between, or that this instance has not heard of yet, leaves nothing alive: while it
 * holds everything of its keys is refused, whenever it was issued, and its restoration leaves all refused that was issued
 * before (`Revocations`). To ask again only spares the client a credential that is of no use.
 * @throws Rejection `trust_revoked`
 */
export function refuseRevokedSince(
  revocations: Revocations,
  token: VerifiedToken,
  context: RejectionContext = {},
): void {
  const key = issuerAndKid(token);
  if (revocations.isRevoked(key)) throw new Rejection('trust_revoked', { ...context, ...key });
}
