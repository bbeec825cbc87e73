// The event for a user who was created, changed or deleted by a user, an operator or a command. Tokens have
// other events.
import type { AuditContext, AuditEvent } from '../token-exchange/instance.js';
import { auditEvent } from '../token-exchange/instance.js';
import type { User } from '../users/user.repository.js';

/** A user before and after; undefined if the user did not exist. */
export interface ChangeOfUser {
  readonly id: string;
  readonly from?: Pick<User, 'role' | 'enabled'>;
  readonly to?: Pick<User, 'role' | 'enabled'>;
}

/** Only `actorUserId` identifies the actor. It is undefined if a command made the change. */
export function userChanged(
  { occurredAt, requestId, actorUserId }: AuditContext,
  { id: subjectUserId, from, to }: ChangeOfUser,
): AuditEvent {
  const context = { occurredAt, requestId, subjectUserId, actorUserId };
  return auditEvent('svc.audit.user.changed', context, { from: stateOf(from), to: stateOf(to) });
}

function stateOf(user: ChangeOfUser['from']) {
  return user && { role: user.role, enabled: user.enabled };
}
