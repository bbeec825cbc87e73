// Ends all that was issued to a user, within a transaction, with the event that is to be recorded in it.
import type { AuditContext } from '../audit/audit-event.js';
import { auditEvent } from '../audit/audit-event.js';
import type { ToldWork } from '../audit/audit.bus.js';
import type { Transaction } from '../database/transaction.js';
import type { RevocationRepository } from '../revocation/revocation.repository.js';
import type { SessionRepository } from './session.repository.js';

/** What it writes to. */
export interface IssuedThings {
  readonly sessions: Pick<SessionRepository, 'deleteOfUser'>;
  readonly revocations: Pick<RevocationRepository, 'signOut'>;
}

/**
 * Ends sessions, and access tokens of which the user is subject or actor. What is being opened or issued at this moment has a
 * time that is not later than the context's, and is refused by that.
 * @rule D62 A user is signed out everywhere, for good; new logins pass, and access tokens from the next second on.
 * @returns how many sessions there were that had not ended by themselves
 */
export async function signOutEverywhere(
  { sessions, revocations }: IssuedThings,
  transaction: Transaction,
  userId: string,
  { occurredAt, requestId, actorUserId }: AuditContext,
): Promise<ToldWork<number>> {
  await revocations.signOut(transaction, userId, occurredAt);
  const deleted = await sessions.deleteOfUser(transaction, userId);
  const ended = deleted.filter(({ expiresAt }) => expiresAt > occurredAt).length;
  const context = { occurredAt, requestId, subjectUserId: userId, actorUserId };
  const event = auditEvent('svc.audit.token-exchange.user-signed-out', context, { sessions: ended });
  return { result: ended, events: [event] };
}
