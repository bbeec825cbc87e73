// Refuses verified tokens whose key is revoked, or whose user the provider has signed out since.
import type { Party } from '../refusals/rejection.js';
import { Rejection } from '../refusals/rejection.js';
import type { Revocations } from '../revocation/revocations.js';
import type { VerifiedToken } from './external-token.verifier.js';
import { issuerAndKid } from './external-token.verifier.js';
import type { Tokens } from './tokens.js';

/**
 * Asked before anything is used up. See `refuseRevokedSince` for the rest.
 * @throws Rejection `trust_revoked`, `signed_out_by_provider`
 * @throws TemporarilyUnavailableException where it is not known at present what has been revoked
 */
export function refuseRevokedTrust(revocations: Revocations, tokens: Tokens): void {
  revocations.ensureKnown();
  refuseRevokedSince(revocations, tokens);
}

/**
 * Asked again right before something is handed out, by what is known then: the token is used up, so the client is not sent away
 * to send it again. A revocation that comes in between, or that this instance has not heard of yet, leaves nothing alive. While it
 * holds everything of its keys is refused, whenever it was issued, and its restoration leaves all refused that was issued
 * before (`Revocations`). To ask again only spares the client a credential that is of no use.
 * @throws Rejection `trust_revoked`, `signed_out_by_provider`
 */
export function refuseRevokedSince(revocations: Revocations, { subject, actor }: Tokens): void {
  refuseRevoked(revocations, subject, 'subject');
  if (actor !== undefined) refuseRevoked(revocations, actor, 'actor');
}

/** @throws Rejection `trust_revoked` */
export function refuseRevokedKey(
  revocations: Revocations,
  token: Pick<VerifiedToken, 'key'>,
  party?: Party,
): void {
  const key = issuerAndKid(token);
  if (revocations.isRevoked(key)) throw new Rejection('trust_revoked', { party, ...key });
}

function refuseRevoked(revocations: Revocations, token: VerifiedToken, party: Party): void {
  refuseRevokedKey(revocations, token, party);
  if (revocations.isLoggedOut(token.login))
    throw new Rejection('signed_out_by_provider', { party, ...issuerAndKid(token) });
}
