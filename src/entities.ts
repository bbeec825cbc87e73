// Every entity of the application, for the data source.
import { SigningKey } from './access/signing-key.repository.js';
import { WebSession } from './access/session.repository.js';
import { AuditRow } from './audit/audit-trail.repository.js';
import type { Entities } from './database/data-source.js';
import { IdentityLink } from './token-exchange/identity/identity-link.repository.js';
import { UsedJti } from './token-exchange/jti.repository.js';
import { JwksSnapshot } from './token-exchange/keys/jwks-snapshot.repository.js';
import { User } from './users/user.repository.js';
import { Project, ProjectMember } from './workspace/project.repository.js';
import { Workflow } from './workspace/workflow.repository.js';

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
  AuditRow,
];
