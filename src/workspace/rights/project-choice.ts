// Finds the project that something new goes into.
import { Injectable } from '@nestjs/common';
import { Transactions } from '../../token-exchange/database/transaction.js';
import type { User } from '../../users/user.repository.js';
import { ProjectRepository } from '../projects/project.repository.js';
import { AccessRights } from './access-rights.js';
import type { ProjectRight } from './rights.js';

@Injectable()
export class ProjectChoice {
  constructor(
    private readonly rights: AccessRights,
    private readonly projects: ProjectRepository,
    private readonly transactions: Transactions,
  ) {}

  /**
   * The project that a body names, if the acting user has the right there; without one their personal project.
   * @throws ApiRefusal `not_found`, `forbidden`
   */
  async choose(user: User, right: ProjectRight, named: string | undefined): Promise<string> {
    const projectId =
      named ??
      (await this.transactions.run((transaction) => this.projects.personalProjectId(transaction, user.id)));
    await this.rights.requireOnThing(user, right, 'project', projectId);
    return projectId;
  }
}
