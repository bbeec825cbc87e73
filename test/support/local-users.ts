// Makes and changes users and workflows of the instance by its own services, as its command line does.
import { Transactions } from '../../src/platform/database/transaction.js';
import type { NewUser, UserChange } from '../../src/users/user.repository.js';
import { UserRepository } from '../../src/users/user.repository.js';
import { ProjectRepository } from '../../src/workspace/projects/project.repository.js';
import { WorkflowRepository } from '../../src/workspace/workflows/workflow.repository.js';
import type { TestService } from './test-service.js';

/** Makes a user, a nameless member unless told otherwise, and returns the id. */
export async function createUser(
  service: TestService,
  user: Pick<NewUser, 'email'> & Partial<NewUser>,
): Promise<string> {
  const whole: NewUser = { role: 'global:member', givenName: '', familyName: '', ...user };
  const created = await service
    .part(Transactions)
    .run((transaction) => service.part(UserRepository).create(transaction, whole));
  if (created === undefined) throw new Error('the e-mail address is taken');
  return created.id;
}

export function changeUser(service: TestService, id: string, change: UserChange): Promise<void> {
  const users = service.part(UserRepository);
  return service.part(Transactions).run((transaction) => users.update(id, change, transaction));
}

/** Deletes a user by SQL, as an operator may. */
export async function deleteUser(service: TestService, id: string): Promise<void> {
  await service.rows('DELETE FROM user_account WHERE id = $1', [id]);
}

/** Links an external identity to a user, as an earlier login has. */
export async function linkUser(
  service: TestService,
  issuer: string,
  subject: string,
  userId: string,
): Promise<void> {
  const statement = 'INSERT INTO token_exchange_identity_link (issuer, subject, user_id) VALUES ($1, $2, $3)';
  await service.rows(statement, [issuer, subject, userId]);
}

/** Puts a workflow into the personal project of a user. */
export async function createWorkflow(service: TestService, userId: string, name: string): Promise<void> {
  await service.part(Transactions).run(async (transaction) => {
    const projectId = await service.part(ProjectRepository).personalProjectId(transaction, userId);
    const workflow = { projectId, name, active: false, nodes: [], connections: {} };
    await service.part(WorkflowRepository).insert(transaction, [workflow]);
  });
}

/** A user as stored. */
export interface StoredUser {
  id: string;
  email: string;
  role: string;
  givenName: string;
  familyName: string;
  enabled: boolean;
  passwordLoginEnabled: boolean;
}

const USER_COLUMNS = `u.id, u.email, u.role, u.given_name AS "givenName", u.family_name AS "familyName",
  u.enabled, u.password_login_enabled AS "passwordLoginEnabled"`;

/** The user that an external identity is linked to. */
export async function linkedUser(
  service: TestService,
  issuer: string,
  subject: string,
): Promise<StoredUser | undefined> {
  const [user] = await service.rows<StoredUser>(
    `SELECT ${USER_COLUMNS} FROM token_exchange_identity_link l JOIN user_account u ON u.id = l.user_id
     WHERE l.issuer = $1 AND l.subject = $2`,
    [issuer, subject],
  );
  return user;
}

export async function storedUser(service: TestService, id: string): Promise<StoredUser> {
  const [user] = await service.rows<StoredUser>(
    `SELECT ${USER_COLUMNS} FROM user_account u WHERE u.id = $1`,
    [id],
  );
  if (user === undefined) throw new Error('there is no such user');
  return user;
}
