// Every entity of the application, for the data source. Token exchange has none: a host need not know its tables.
import { AuditRow } from '../audit/audit-trail.repository.js';
import type { Entities } from '../database/data-source.js';
import { User } from '../users/user.repository.js';
import { Credential } from '../workspace/credentials/credential.repository.js';
import { ProjectMember } from '../workspace/projects/project-member.repository.js';
import { Project } from '../workspace/projects/project.repository.js';
import { Workflow } from '../workspace/workflows/workflow.repository.js';

export const ENTITIES: Entities = [User, Project, ProjectMember, Workflow, Credential, AuditRow];
