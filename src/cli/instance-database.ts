// Opens the instance's database for the length of one command, without the rest of the service.
import { resolve } from 'node:path';
import { VARIABLES } from '../config/environment.js';
import type { Config } from '../config/load-config.js';
import { DataDirectoryLockedError } from '../database/data-directory.lock.js';
import type { OpenDatabase } from '../database/data-source.js';
import { DatabaseUnavailableError, openDatabase } from '../database/data-source.js';
import { ENTITIES } from '../start/entities.js';
import { databaseSettings } from '../start/startup.js';
import { Database } from '../token-exchange/database/database.js';
import { Transactions } from '../token-exchange/database/transaction.js';
import { JwksSnapshotRepository } from '../token-exchange/keys/jwks/jwks-snapshot.repository.js';
import { User, UserRepository } from '../users/user.repository.js';
import { UserService } from '../users/user.service.js';
import { ProjectRepository } from '../workspace/projects/project.repository.js';
import { Workflow, WorkflowRepository } from '../workspace/workflows/workflow.repository.js';
import type { CommandContext } from './command-context.js';
import { CommandError, reasonOf } from './command-error.js';

/** What commands use of the instance. */
export interface InstanceParts {
  readonly transactions: Transactions;
  readonly users: UserRepository;
  readonly userService: UserService;
  readonly projects: ProjectRepository;
  readonly workflows: WorkflowRepository;
  readonly keySets: JwksSnapshotRepository;
}

/**
 * Runs `work` on the instance that the configuration leads to, its schema brought up to date.
 * @throws CommandError when the database cannot be opened, or a running service has it (D46)
 */
export function withInstance<T>(
  context: CommandContext,
  work: (instance: InstanceParts) => Promise<T>,
): Promise<T> {
  return withDatabase(context, (database) => work(instanceOn(database)));
}

/** As `withInstance`, for work on the database itself. */
export async function withDatabase<T>(
  context: CommandContext,
  work: (database: OpenDatabase) => Promise<T>,
): Promise<T> {
  const database = await open(context);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Where the embedded database is, told by the folder in which the command was typed. */
export function absoluteDataDirectory(
  { dataDirectory }: Pick<Config, 'dataDirectory'>,
  { workingDirectory }: CommandContext,
): string {
  return resolve(workingDirectory, dataDirectory);
}

async function open(context: CommandContext): Promise<OpenDatabase> {
  const { databaseUrl, databasePoolSize, dataDirectory } = VARIABLES;
  const config = context.settings.read(databaseUrl, databasePoolSize, dataDirectory);
  const directory = absoluteDataDirectory(config, context);
  try {
    return await openDatabase(databaseSettings({ ...config, dataDirectory: directory }), ENTITIES);
  } catch (error) {
    const isClear = error instanceof DataDirectoryLockedError || error instanceof DatabaseUnavailableError;
    if (isClear) throw new CommandError(error.message);
    throw new CommandError(`The database cannot be opened: ${reasonOf(error)}`);
  }
}

function instanceOn({ dataSource }: OpenDatabase): InstanceParts {
  const database = new Database(dataSource);
  const users = new UserRepository(dataSource.getRepository(User));
  const projects = new ProjectRepository(dataSource);
  return {
    transactions: new Transactions(database),
    users,
    userService: new UserService(users, projects),
    projects,
    workflows: new WorkflowRepository(dataSource.getRepository(Workflow)),
    keySets: new JwksSnapshotRepository(database),
  };
}
