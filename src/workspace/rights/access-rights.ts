// Decides what a user may do, by the table of rights and the roles as they are now.
import { Injectable } from '@nestjs/common';
import type { User } from '../../users/user.repository.js';
import { ApiRefusal } from '../api/api-refusal.js';
import type { ThingKind } from './project-role.repository.js';
import { ProjectRoleRepository } from './project-role.repository.js';
import type { InstanceRight, ProjectRight } from './rights.js';
import { grants, readRightOf } from './rights.js';

type ActingUser = Pick<User, 'id' | 'role'>;

/** Members see their projects, administrators and the owner all (D47): the id to filter by, or undefined for all. */
export function visibleToMember({ id, role }: ActingUser): string | undefined {
  return grants([role], 'project:read') ? undefined : id;
}

@Injectable()
export class AccessRights {
  constructor(private readonly projectRoles: ProjectRoleRepository) {}

  /** @throws ApiRefusal `forbidden` */
  requireOnInstance({ role }: ActingUser, right: InstanceRight): void {
    if (!grants([role], right)) throw new ApiRefusal('forbidden');
  }

  /**
   * A right on one user. Everybody sees their own account.
   * @throws ApiRefusal `not_found` for accounts that the acting user does not see, else `forbidden`
   */
  requireOnUser({ id, role }: ActingUser, right: 'user:read' | 'user:write', userId: string): void {
    const isSeen = id === userId || grants([role], 'user:read');
    if (!isSeen) throw new ApiRefusal('not_found');
    if (right === 'user:write' && !grants([role], right)) throw new ApiRefusal('forbidden');
  }

  /** Which of some projects give a right, asked for all of them at once. */
  async projectsGranting(
    user: ActingUser,
    right: ProjectRight,
    projectIds: readonly string[],
  ): Promise<Set<string>> {
    const roles = await this.projectRoles.rolesIn(projectIds, user.id);
    return new Set(projectIds.filter((id) => grants([user.role, roles.get(id)], right)));
  }

  /**
   * A right on a project, or on a thing in one.
   * @throws ApiRefusal `not_found` for what is not there or not to be seen, `forbidden` for what is only to be seen
   */
  async requireOnThing(user: ActingUser, right: ProjectRight, kind: ThingKind, id: string): Promise<void> {
    const standing = await this.projectRoles.standing(kind, id, user.id);
    if (standing === undefined) throw new ApiRefusal('not_found');
    const roles = [user.role, standing.role];
    if (grants(roles, right)) return;
    const readRight = readRightOf(right);
    const isSeen = readRight !== undefined && grants(roles, readRight);
    throw new ApiRefusal(isSeen ? 'forbidden' : 'not_found');
  }
}
