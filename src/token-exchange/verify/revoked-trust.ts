// Refuses verified tokens whose key is revoked, or whose user the provider has signed out since.
import type { SubjectOrActor } from '../refusals/rejection.js';
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
 * Asked again right before a session or access token is issued, without waiting for newer revocations: the external token is used up,
 * so the client could not repeat it. A revocation that arrives in between is safe too, because each use of a session or access token
 * is checked again (`Revocations`). Asking here only spares the client a useless credential.
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
  which?: SubjectOrActor,
): void {
  const key = issuerAndKid(token);
  if (revocations.isRevoked(key)) throw new Rejection('trust_revoked', { party: which, ...key });
}

function refuseRevoked(revocations: Revocations, token: VerifiedToken, which: SubjectOrActor): void {
  refuseRevokedKey(revocations, token, which);
  const key = issuerAndKid(token);
  if (revocations.isLoggedOut(token.login, [key]))
    throw new Rejection('signed_out_by_provider', { party: which, ...key });
}
