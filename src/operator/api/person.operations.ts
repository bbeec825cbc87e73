// Finds users and their live sessions, those of embedded logins and those of operators, and ends a session.
import { CommandError } from '../../administration/command-error.js';
import {
  checkedText,
  members,
  optional,
  storableText,
  textUpTo,
  uuid,
  wholeNumber,
} from '../../administration/input.js';
import { changeOperation, listOperation } from '../../administration/operation.js';
import { refuseOwner } from '../../administration/owner-protection.js';
import { listedUser } from '../../administration/users.operations.js';
import type { Checked } from '../../platform/input/schemas.js';
import { isId } from '../../platform/text/id.js';
import { auditEvent } from '../../token-exchange/instance.js';
import type { User, UserRepository } from '../../users/user.repository.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.filter.js';
import type { EmbeddedSession, SessionQuery } from './embedded-session.repository.js';
import { MOST_LISTED, USUAL_LIMIT, pageOf } from './pages.js';

const MOST_SEARCHED_CHARACTERS = 320;

const readUserSearch = members({
  /** An id, or an e-mail address or its beginning; nothing: all. */
  search: optional(textUpTo(MOST_SEARCHED_CHARACTERS)),
  limit: optional(wholeNumber(1, MOST_LISTED)),
  /** Id of the last user of the page before: an e-mail address is in no cursor. */
  cursor: optional(uuid),
});
type UserSearch = ReturnType<typeof readUserSearch>;

/** A list of one page, with the number of all users on the first page of all. */
export const SEARCH_USERS = listOperation('users search', readUserSearch, {
  async *list({ search = '', limit = USUAL_LIMIT, cursor }, { users, userProfiles }) {
    const found = await findUsers({ search, limit, cursor }, users);
    const { data, nextCursor } = pageOf(found, limit, ({ id }) => id);
    const lastSignIns = await userProfiles.lastSignIns(data.map(({ id }) => id));
    const total = search === '' && cursor === undefined ? await userProfiles.count() : null;
    // Null where none of the user's last events is a sign-in.
    const shown = data.map((user) => {
      return { ...listedUser(user), lastSignInAt: lastSignIns.get(user.id) ?? null };
    });
    yield [{ data: shown, nextCursor, total }];
  },
});

/** One more than a page has, where there are more. */
async function findUsers(
  { search, limit, cursor }: Required<Omit<UserSearch, 'cursor'>> & Pick<UserSearch, 'cursor'>,
  users: UserRepository,
): Promise<User[]> {
  if (isId(search)) {
    const user = await users.findById(search.toLowerCase());
    return user === undefined ? [] : [user];
  }
  const last = cursor === undefined ? undefined : await users.findById(cursor);
  if (cursor !== undefined && last === undefined)
    throw new CommandError('The user of the cursor was deleted.');
  return users.search(search, last?.normalizedEmail, limit + 1);
}

const readSessionSearch = members({
  /** The id of a user, or the beginning of an e-mail address. */
  user: optional(storableText),
  issuer: optional(storableText),
  limit: optional(wholeNumber(1, MOST_LISTED)),
  cursor: optional(checkedText(checkPlace)),
});

/** @param find reads so many rows as a query asks for */
export function searchSessions(find: (query: SessionQuery) => Promise<EmbeddedSession[]>) {
  return listOperation('sessions list', readSessionSearch, {
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
