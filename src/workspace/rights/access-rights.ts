// Decides whether a call is allowed, by the table of rights, the current roles and the token's scopes.
import { Injectable } from '@nestjs/common';
import type { Authority, Principal } from '../../access/authentication.service.js';
import { Transactions } from '../../platform/database/transaction.js';
import type { User } from '../../users/user.repository.js';
import { ApiRefusal } from '../api/api-refusal.js';
import { ProjectRepository } from '../projects/project.repository.js';
import type { ThingKind } from './project-role.repository.js';
import { ProjectRoleRepository } from './project-role.repository.js';
import type { InstanceRight, ProjectRight, Right } from './rights.js';
import { grants, readRightOf } from './rights.js';

/** Users whose rights are checked; each must have the required right. */
type Acting = Pick<Authority, 'rightsOf'>;

/** Why a user lacks the right; undefined if the user has it. */
type Verdict = 'not_found' | 'forbidden' | undefined;

/**
 * If two users are checked, a call may do what each of them may do alone, and lists show what both can see
 * (D30).
 */
@Injectable()
export class AccessRights {
  constructor(private readonly projectRoles: ProjectRoleRepository) {}

  /**
   * Checks that the token includes the scope. See issuance.planner.ts for how a token gets its scopes (P.scopes).
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
   * Checks a right on one user. All users may read their own account.
   * @throws ApiRefusal `not_found` if one of the acting users may not see the account, otherwise `forbidden`
   */
  requireOnUser({ rightsOf }: Acting, right: 'user:read' | 'user:write', userId: string): void {
    refuse(rightsOf.map((user) => verdictOnUser(user, right, userId)));
  }

  /** Which of the given projects grant a right, in one query; none if the token lacks the scope. */
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
   * Checks a right on a project, or on an object in one.
   * @throws ApiRefusal `not_found` if it does not exist or is not visible, `forbidden` if it is only visible
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

/** A 404 takes precedence, because the caller must not learn that the object exists. */
function refuse(verdicts: readonly Verdict[]): void {
  for (const reason of ['not_found', 'forbidden'] as const)
    if (verdicts.includes(reason)) throw new ApiRefusal(reason);
}

const NOT_FOR_BOTH =
  "projectId must be given: the token needs the rights of two users, and one has none in the other's personal project";

@Injectable()
export class ProjectChoice {
  constructor(
    private readonly rights: AccessRights,
    private readonly projects: ProjectRepository,
    private readonly transactions: Transactions,
  ) {}

  /**
   * The project in the body, if the call has the right there; otherwise the acting user's personal project.
   * @throws ApiRefusal `not_found`, `forbidden`; `bad_request` if none is given and two users are checked,
   * one of whom lacks the right in the personal project
   */
  async choose(principal: Principal, right: ProjectRight, named: string | undefined): Promise<string> {
    const projectId = named ?? (await this.personalProject(principal, right));
    await this.rights.requireOnThing(principal, right, 'project', projectId);
    return projectId;
  }

  /**
   * Others have rights in the acting user's personal project only through a global role. A 404 would not say
   * what is missing.
   */
  private async personalProject(principal: Principal, right: ProjectRight): Promise<string> {
    const { user, rightsOf } = principal;
    const projectId = await this.transactions.run((transaction) =>
      this.projects.personalProjectId(transaction, user.id),
    );
    if (rightsOf.length === 1) return projectId;
    const granting = await this.rights.projectsGranting(principal, right, [projectId]);
    if (granting.has(projectId)) return projectId;
    throw new ApiRefusal('bad_request', NOT_FOR_BOTH);
  }
}
