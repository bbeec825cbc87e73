// Ends all that was issued to a user, within a transaction, with the event that is to be recorded in it.
import type { AuditContext } from '../audit/audit-event.js';
import { auditEvent } from '../audit/audit-event.js';
import type { RecordedWork } from '../audit/audit.bus.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { UserDirectory } from '../host/users.js';
import type { SessionRepository } from './session.repository.js';

/** What it writes to. */
export interface IssuedThings {
  readonly sessions: Pick<SessionRepository, 'deleteOfUser'>;
  readonly users: Pick<UserDirectory, 'endAccess'>;
}

/**
 * Ends sessions, and access tokens of which the user is subject or actor. What is being opened or issued at this moment carries
 * the generation of before, and is refused by that.
 * @rule D62 A user is signed out everywhere, for good; what is decided after it passes.
 * See `endAccess` in users/user.repository.ts, and authentication.service.ts for the comparison at each use.
 * @returns how many sessions there were that had not ended by themselves
 * @throws Error where the host cannot end access
 */
export async function signOutEverywhere(
  { sessions, users }: IssuedThings,
  transaction: Transaction,
  userId: string,
  { occurredAt, requestId, actorUserId }: AuditContext,
): Promise<RecordedWork<number>> {
  if (users.endAccess === undefined) throw new Error('the UserDirectory of this host has no endAccess');
  await users.endAccess(transaction, userId);
  const deleted = await sessions.deleteOfUser(transaction, userId);
  const ended = deleted.filter(({ expiresAt }) => expiresAt > occurredAt).length;
  const context = { occurredAt, requestId, subjectUserId: userId, actorUserId };
  const event = auditEvent('svc.audit.token-exchange.user-signed-out', context, { sessions: ended });
  return { result: ended, events: [event] };
}
