// Judges the token of an embedded login and where it comes from, before anything is used up for it.
import { withRejectionContext } from '../rejection.js';
import type { Revocations } from '../revocation/revocations.js';
import type { ExternalTokenVerifier, VerifiedToken } from '../verification/external-token.verifier.js';
import { issuerAndKid } from '../verification/external-token.verifier.js';
import { refuseRevokedTrust } from '../verification/revoked-trust.js';
import type { LoginSource } from './login-origin.js';
import { refuseForeignOrigin } from './login-origin.js';

/** @throws Rejection with the first reason against it */
export async function verifyLogin(
  verifier: ExternalTokenVerifier,
  revocations: Revocations,
  { token, source }: { readonly token: string; readonly source: LoginSource },
): Promise<VerifiedToken> {
  const verified = await verifier.verify(token, 'embed');
  await withRejectionContext(issuerAndKid(verified), () => refuseForeignOrigin(verified.key.policy, source));
  refuseRevokedTrust(revocations, verified);
  return verified;
}
