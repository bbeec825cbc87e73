// Lists all users.
import type { User } from '../users/user.repository.js';
import { readNothing } from './input.js';
import type { ListOperation } from './operation.js';

/** The embedded database reads a page on the main thread, which requests wait for meanwhile. */
const PAGE_SIZE = 100;

export interface ListedUser extends Pick<
  User,
  'id' | 'email' | 'givenName' | 'familyName' | 'role' | 'enabled'
> {
  /** ISO 8601. */
  readonly createdAt: string;
}

export const LIST_USERS: ListOperation<Record<string, never>, ListedUser> = {
  name: 'users list',
  read: readNothing,

  async *list(_input, { users }) {
    let page = await users.list(undefined, PAGE_SIZE);
    while (page.length > 0) {
      yield page.map(listedUser);
      page = await users.list(page.at(-1)?.id, PAGE_SIZE);
    }
  },
};

export function listedUser({ id, email, givenName, familyName, role, enabled, createdAt }: User): ListedUser {
  return { id, email, givenName, familyName, role, enabled, createdAt: createdAt.toISOString() };
}
