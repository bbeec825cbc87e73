// Finds users for an operator, and shows one.
import { members, optional, textUpTo, uuid, wholeNumber } from '../../administration/input.js';
import { CommandError } from '../../administration/command-error.js';
import { listedUser } from '../../administration/users.operations.js';
import { listOperation } from '../../administration/operation.js';
import type { User, UserRepository } from '../../users/user.repository.js';
import { isId } from '../../platform/text/id.js';
import { MOST_LISTED, USUAL_LIMIT, pageOf } from './pages.js';

const MOST_SEARCHED_CHARACTERS = 320;

const readSearch = members({
  /** An id, or an e-mail address or its beginning; nothing: all. */
  search: optional(textUpTo(MOST_SEARCHED_CHARACTERS)),
  limit: optional(wholeNumber(1, MOST_LISTED)),
  /** Id of the last user of the page before: an e-mail address is in no cursor. */
  cursor: optional(uuid),
});
type UserSearch = ReturnType<typeof readSearch>;

/** A list of one page, with the number of all users on the first page of all. */
export const SEARCH_USERS = listOperation('users search', readSearch, {
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
