// Every entity and migration of the application, for the data source. Token exchange has no entity: a host need not know its tables.
import { AuditRow } from '../audit/audit-trail.repository.js';
import type { Schema } from '../platform/database/data-source.js';
import { User } from '../users/user.repository.js';
import { Credential } from '../workspace/credentials/credential.repository.js';
import { ProjectMember } from '../workspace/projects/project-member.repository.js';
import { Project } from '../workspace/projects/project.repository.js';
import { Workflow } from '../workspace/workflows/workflow.repository.js';
import { MIGRATIONS } from './migrations/index.js';

export const SCHEMA: Schema = {
  entities: [User, Project, ProjectMember, Workflow, Credential, AuditRow],
  migrations: MIGRATIONS,
};
