// Chooses the project of a new object.
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { Transactions } from '../../platform/database/transaction.js';
import { ApiRefusal } from '../api/api-refusal.js';
import { AccessRights } from '../rights/access-rights.js';
import type { ProjectRight } from '../rights/rights.js';
import { ProjectRepository } from './project.repository.js';

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
