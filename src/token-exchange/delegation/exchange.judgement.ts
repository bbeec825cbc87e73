// Judges the tokens of an exchange by themselves and together, before anything is used up for it.
import type { Parties } from '../consumption/consumption.service.js';
import type { Party } from '../rejection.js';
import { withRejectionContext } from '../rejection.js';
import type { Revocations } from '../revocation/revocations.js';
import type { ExternalTokenVerifier } from '../verification/external-token.verifier.js';
import { issuerAndKid } from '../verification/external-token.verifier.js';
import type { refuseRevokedSince, refuseRevokedTrust } from '../verification/revoked-trust.js';
import { judgeParties } from './delegation-policy.js';
import type { ExchangeRequest } from './issuance.planner.js';

/**
 * Verifies the subject token, then the actor token where there is one, then whether they may come together.
 * @throws Rejection with the first reason against them
 */
export async function verifyParties(
  verifier: ExternalTokenVerifier,
  { subjectToken, actorToken }: Pick<ExchangeRequest, 'subjectToken' | 'actorToken'>,
): Promise<Parties> {
  const verifyParty = (party: Party, token: string) =>
    withRejectionContext({ party }, () => verifier.verify(token, 'exchange'));
  const subject = await verifyParty('subject', subjectToken);
  const actor = actorToken === undefined ? undefined : await verifyParty('actor', actorToken);
  const party = actor === undefined ? 'subject' : 'actor';
  await withRejectionContext({ party, ...issuerAndKid(actor ?? subject) }, () =>
    judgeParties({ subject, actor }),
  );
  return { subject, actor };
}

/** @throws Rejection `trust_revoked`, and as `refuse` does */
export function judgeRevocation(
  revocations: Revocations,
  { subject, actor }: Parties,
  refuse: typeof refuseRevokedTrust | typeof refuseRevokedSince,
): void {
  refuse(revocations, subject, { party: 'subject' });
  if (actor !== undefined) refuse(revocations, actor, { party: 'actor' });
}
