// Users and workflows that are in the instance before the requests of a test.
import { Transactions } from '../../src/platform/database/transaction.js';
import type { User } from '../../src/users/user.repository.js';
import type { NewUser } from '../../src/users/user.repository.js';
import { UserService } from '../../src/users/user.service.js';
import { ProjectRepository } from '../../src/workspace/projects/project.repository.js';
import type { NewWorkflow } from '../../src/workspace/workflows/workflow.repository.js';
import { WorkflowRepository } from '../../src/workspace/workflows/workflow.repository.js';
import type { TestService } from './test-service.js';

/** Makes a user the way the command line does. */
export async function createUser(
  service: TestService,
  user: Pick<NewUser, 'email'> & Partial<NewUser>,
): Promise<User> {
  const newUser: NewUser = { givenName: '', familyName: '', role: 'global:member', ...user };
  const created = await service
    .part(Transactions)
    .run((transaction) => service.part(UserService).create(transaction, newUser));
  if (created === undefined) throw new Error('the e-mail address is taken');
  return created;
}

/** Puts workflows into the personal project of a user; returns their ids. */
export function addWorkflows(
  service: TestService,
  ownerId: string,
  drafts: readonly (Pick<NewWorkflow, 'name'> & Partial<NewWorkflow>)[],
): Promise<string[]> {
  return service.part(Transactions).run(async (transaction) => {
    const projectId = await service.part(ProjectRepository).personalProjectId(transaction, ownerId);
    const workflows = drafts.map((draft) => ({
      active: false,
      nodes: [],
      connections: {},
      ...draft,
      projectId,
    }));
    const made = await service.part(WorkflowRepository).insert(transaction, workflows);
    return made.map(({ id }) => id);
  });
}
