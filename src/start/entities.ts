// Every entity of the application, for the data source.
import { WebSession } from '../access/session.repository.js';
import { SigningKey } from '../access/signing-key.repository.js';
import { AuditRow } from '../audit/audit-trail.repository.js';
import type { Entities } from '../database/data-source.js';
import { UsedJti } from '../token-exchange/consumption/jti.repository.js';
import { IdentityLink } from '../token-exchange/identity/identity-link.repository.js';
import { JwksSnapshot } from '../token-exchange/keys/jwks/jwks-snapshot.repository.js';
import { User } from '../users/user.repository.js';
import { Credential } from '../workspace/credentials/credential.repository.js';
import { ProjectMember } from '../workspace/projects/project-member.repository.js';
import { Project } from '../workspace/projects/project.repository.js';
import { Workflow } from '../workspace/workflows/workflow.repository.js';

export const ENTITIES: Entities = [
  User,
  IdentityLink,
  UsedJti,
  JwksSnapshot,
  WebSession,
  SigningKey,
  Project,
  ProjectMember,
  Workflow,
  Credential,
  AuditRow,
];
