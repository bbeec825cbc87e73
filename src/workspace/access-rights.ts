// Which workflows a user may see.
import type { User } from '../users/user.repository.js';
import { ADMIN_ROLE, OWNER_ROLE } from '../users/role.js';

/** Members see their projects, administrators and the owner all (D47): the id to filter by, or undefined for all. */
export function visibleToMember({ id, role }: Pick<User, 'id' | 'role'>): string | undefined {
  return role === OWNER_ROLE || role === ADMIN_ROLE ? undefined : id;
}
