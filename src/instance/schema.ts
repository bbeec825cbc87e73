// Lists every entity and migration for the data source. The migrations create tables, triggers and functions.
// Token exchange has no entities, because a host need not know its tables. The audit trail has none, because
// only statements read and write it.
import type { Schema } from '../platform/database/data-source.js';
import { TOKEN_EXCHANGE_MIGRATIONS } from '../token-exchange/instance.js';
import { User } from '../users/user.repository.js';
import { Credential } from '../workspace/credentials/credential.repository.js';
import { Project, ProjectMember } from '../workspace/projects/project.repository.js';
import { Workflow } from '../workspace/workflows/workflow.repository.js';
import { Instance1795800000100 } from './migrations/1795800000100-instance.js';
import { Instance1795900000100 } from './migrations/1795900000100-instance.js';

/**
 * All migrations, which TypeORM runs in the order of their numbers. The instance links the package's tables to
 * its users.
 */
export const MIGRATIONS = [
  ...TOKEN_EXCHANGE_MIGRATIONS,
  Instance1795800000100,
  Instance1795900000100,
] as const;

export const SCHEMA: Schema = {
  entities: [User, Project, ProjectMember, Workflow, Credential],
  migrations: MIGRATIONS,
};
