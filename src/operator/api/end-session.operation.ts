// Ends one session: of an embedded login, or of an operator.
import { auditEvent } from '../../token-exchange/plain.js';
import type { Read } from '../../administration/input.js';
import { readMembers } from '../../administration/input.js';
import type { ChangeOperation } from '../../administration/operation.js';
import { refuseOwner } from '../../administration/owner-protection.js';
import { isId } from '../../platform/text/id.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.js';

export interface ChosenSession {
  readonly id: string;
}

const read = (input: unknown) => readMembers<ChosenSession>(input, { id: sessionId });

/** The whole family, whatever is being renewed in it. */
export const END_SESSION: ChangeOperation<ChosenSession, null> = {
  name: 'sessions end',
  read,

  async change({ id }, work) {
    const { parts, transaction, context } = work;
    const deleted = await parts.sessions.deleteFamilies(transaction, [id]);
    const live = deleted.filter(({ expiresAt }) => expiresAt > context.occurredAt);
    const [first] = live;
    if (first === undefined) throw new OperatorRefusal('not_found');
    const { userId } = first;
    await refuseOwner(userId, work);
    const event = auditEvent(
      'svc.audit.session.ended',
      { ...context, subjectUserId: userId },
      { sessions: live.length, cause: 'ended-by-operator', sessionFamilyIds: [id] },
    );
    return { result: null, things: { sessionFamilyId: id, userId }, events: [event] };
  },
};

export const END_OPERATOR_SESSION: ChangeOperation<ChosenSession, null> = {
  name: 'operator-sessions end',
  read,

  async change({ id }, work) {
    const { parts, transaction } = work;
    const userId = await parts.operatorSessions.delete(transaction, id);
    if (userId === undefined) throw new OperatorRefusal('not_found');
    await refuseOwner(userId, work);
    return { result: null, things: { operatorSessionId: id, userId } };
  },
};

function sessionId(value: unknown): Read<string> {
  return typeof value === 'string' && isId(value)
    ? { value: value.toLowerCase() }
    : { rule: 'must be a UUID' };
}
