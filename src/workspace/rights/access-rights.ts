// Decides what a call may do, by the table of rights, the roles as they are now and the scopes of its token.
import { Injectable } from '@nestjs/common';
import type { Authority } from '../../access/principal.js';
import type { User } from '../../users/user.repository.js';
import { ApiRefusal } from '../api/api-refusal.js';
import type { ThingKind } from './project-role.repository.js';
import { ProjectRoleRepository } from './project-role.repository.js';
import type { InstanceRight, ProjectRight, Right } from './rights.js';
import { grants, readRightOf } from './rights.js';

/** Users whose rights are checked; each must have what is asked for. */
type Acting = Pick<Authority, 'rightsOf'>;

/** Why one user may not; undefined where they may. */
type Verdict = 'not_found' | 'forbidden' | undefined;

/** If two users are checked, a call may do what each of them might do alone, and lists show what both see (D30). */
@Injectable()
export class AccessRights {
  constructor(private readonly projectRoles: ProjectRoleRepository) {}

  /**
   * Whether the token is limited to scopes without this one. See grants.ts for how scopes come into a token (P.scopes).
   * @throws ApiRefusal `insufficient_scope`
   */
  requireScope({ scopes }: Pick<Authority, 'scopes'>, right: Right): void {
    if (scopes?.has(right) === false)
      throw new ApiRefusal('insufficient_scope', `The access token lacks the scope ${right}`, right);
  }

  /** @throws ApiRefusal `forbidden` */
  requireOnInstance({ rightsOf }: Acting, right: InstanceRight): void {
    refuse(rightsOf.map(({ role }) => (grants([role], right) ? undefined : 'forbidden')));
  }

  /**
   * A right on one user. All users see their own account.
   * @throws ApiRefusal `not_found` for accounts that one of the acting users does not see, else `forbidden`
   */
  requireOnUser({ rightsOf }: Acting, right: 'user:read' | 'user:write', userId: string): void {
    refuse(rightsOf.map((user) => verdictOnUser(user, right, userId)));
  }

  /** Which of some projects give a right, asked for all of them at once; none where the token lacks the scope. */
  async projectsGranting(
    { rightsOf, scopes }: Authority,
    right: ProjectRight,
    projectIds: readonly string[],
  ): Promise<Set<string>> {
    if (scopes?.has(right) === false) return new Set();
    const rolesOfEach = await Promise.all(
      rightsOf.map(async ({ id, role }) => ({
        role,
        roles: await this.projectRoles.rolesIn(projectIds, id),
      })),
    );
    const isGranting = (id: string) =>
      rolesOfEach.every(({ role, roles }) => grants([role, roles.get(id)], right));
    return new Set(projectIds.filter(isGranting));
  }

  /**
   * A right on a project, or on a thing in one.
   * @throws ApiRefusal `not_found` for what is not there or not to be seen, `forbidden` for what is only to be seen
   */
  async requireOnThing(
    { rightsOf }: Acting,
    right: ProjectRight,
    kind: ThingKind,
    id: string,
  ): Promise<void> {
    refuse(await Promise.all(rightsOf.map((user) => this.verdictOnThing(user, right, kind, id))));
  }

  private async verdictOnThing(
    user: User,
    right: ProjectRight,
    kind: ThingKind,
    id: string,
  ): Promise<Verdict> {
    const standing = await this.projectRoles.standing(kind, id, user.id);
    if (standing === undefined) return 'not_found';
    const roles = [user.role, standing.role ?? undefined];
    if (grants(roles, right)) return undefined;
    const readRight = readRightOf(right);
    const isSeen = readRight !== undefined && grants(roles, readRight);
    return isSeen ? 'forbidden' : 'not_found';
  }
}

function verdictOnUser({ id, role }: User, right: 'user:read' | 'user:write', userId: string): Verdict {
  const isSeen = id === userId || grants([role], 'user:read');
  if (!isSeen) return 'not_found';
  return right === 'user:write' && !grants([role], right) ? 'forbidden' : undefined;
}

/** A 404 comes first, since the call must not learn that the thing exists. */
function refuse(verdicts: readonly Verdict[]): void {
  for (const reason of ['not_found', 'forbidden'] as const)
    if (verdicts.includes(reason)) throw new ApiRefusal(reason);
}
