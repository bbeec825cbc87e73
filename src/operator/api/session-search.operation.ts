// Finds live sessions, those of embedded logins and those of operators, and ends one.
import {
  checkedText,
  members,
  optional,
  storableText,
  uuid,
  wholeNumber,
} from '../../administration/input.js';
import { changeOperation, listOperation } from '../../administration/operation.js';
import type { Checked } from '../../audit/trail-filter.js';
import { isId } from '../../platform/text/id.js';
import type { EmbeddedSession, SessionQuery } from './embedded-session.repository.js';
import { MOST_LISTED, USUAL_LIMIT, pageOf } from './pages.js';
import { auditEvent } from '../../token-exchange/instance.js';
import { refuseOwner } from '../../administration/owner-protection.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.js';

const readSearch = members({
  /** The id of a user, or the beginning of an e-mail address. */
  user: optional(storableText),
  issuer: optional(storableText),
  limit: optional(wholeNumber(1, MOST_LISTED)),
  cursor: optional(checkedText(checkPlace)),
});

/** @param find reads so many rows as a query asks for */
export function searchSessions(find: (query: SessionQuery) => Promise<EmbeddedSession[]>) {
  return listOperation('sessions list', readSearch, {
    things: ({ user }): Record<string, string> =>
      user !== undefined && isId(user) ? { userId: user.toLowerCase() } : {},

    async *list({ user, issuer, limit = USUAL_LIMIT, cursor }) {
      const whose = user === undefined ? {} : isId(user) ? { userId: user.toLowerCase() } : { email: user };
      const place = placeIn(cursor);
      const after = place && { id: place.id, expiresAt: place.moment };
      const rows = await find({ ...whose, issuer, after, limit: limit + 1 });
      yield [pageOf(rows, limit, ({ id, expiresAt }) => placeAt(id, expiresAt))];
    },
  });
}

/** A cursor of lists in the order of a moment, with an id where moments are the same. */
export function placeAt(id: string, moment: Date): string {
  return `${moment.getTime()}.${id}`;
}

export function placeIn(cursor: string | undefined): { id: string; moment: Date } | undefined {
  if (cursor === undefined) return undefined;
  const [ms, id = ''] = cursor.split('.');
  return { id, moment: new Date(Number(ms)) };
}

export function checkPlace(cursor: string): Checked<string> {
  const [ms = '', id = '', ...more] = cursor.split('.');
  return /^\d{1,14}$/.test(ms) && isId(id) && more.length === 0
    ? { value: cursor }
    : { rule: 'must be the nextCursor of a page' };
}

const readChosen = members({ id: uuid });

/** Ends the whole family, also during a renewal. */
export const END_SESSION = changeOperation('sessions end', readChosen, {
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
});

export const END_OPERATOR_SESSION = changeOperation('operator-sessions end', readChosen, {
  async change({ id }, work) {
    const { parts, transaction } = work;
    const userId = await parts.operatorSessions.delete(transaction, id);
    if (userId === undefined) throw new OperatorRefusal('not_found');
    await refuseOwner(userId, work);
    return { result: null, things: { operatorSessionId: id, userId } };
  },
});
