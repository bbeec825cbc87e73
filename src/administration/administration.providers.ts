// The operations and their dependencies, for the running service and for commands that use the database
// directly. They start nothing.
import type { Provider } from '@nestjs/common';
import { AuditTrailReader } from '../audit/audit-trail.reader.js';
import { USER_TABLE } from '../instance/token-exchange-settings.js';
import type { StatementPool } from '../platform/database/database.js';
import { OPERATOR_DATABASE } from '../platform/database/database.js';
import {
  IdentityLinkRepository,
  JtiRepository,
  JwksSnapshotRepository,
  RevocationRepository,
  SeatRepository,
  SessionRepository,
  SigningKeyRepository,
  StoredEntryChanges,
  StoredEntryRepository,
} from '../token-exchange/instance.js';
import { InstanceProjects } from '../workspace/projects/instance-projects.js';
import { ProjectRepository } from '../workspace/projects/project.repository.js';
import { Quotas } from '../workspace/quotas/quotas.js';
import { WorkflowRepository } from '../workspace/workflows/workflow.repository.js';
import { OperatorAccountRepository } from './accounts/operator-account.repository.js';
import { UserProfileRepository } from './accounts/user-profile.repository.js';
import { Administration } from './administration.js';
import { InstanceExplainer } from './explain/explain-token.operation.js';
import { OPERATION_TYPES } from './operations.js';
import { AdministrationSettings } from './settings.js';
import { TrailFilters } from './trail/read-audit-trail.operation.js';
import { OwnerProtection } from './users/owner-protection.js';

/** They also need `AdministrationSettings`, `PersonHashes`, the audit bus, `USER_PROVIDERS` and `USER_PORTS`. */
export const ADMINISTRATION_PROVIDERS: Provider[] = [
  Administration,
  ...OPERATION_TYPES,
  InstanceExplainer,
  OwnerProtection,
  TrailFilters,
  Quotas,
  InstanceProjects,
  ProjectRepository,
  WorkflowRepository,
  OperatorAccountRepository,
  UserProfileRepository,
  SessionRepository,
  RevocationRepository,
  SigningKeyRepository,
  JwksSnapshotRepository,
  JtiRepository,
  IdentityLinkRepository,
  { provide: SeatRepository, useFactory: () => new SeatRepository({ userTable: USER_TABLE }) },
  StoredEntryRepository,
  {
    provide: StoredEntryChanges,
    inject: [StoredEntryRepository, AdministrationSettings],
    useFactory: (entries: StoredEntryRepository, settings: AdministrationSettings) =>
      new StoredEntryChanges(entries, () => settings.trust),
  },
  {
    provide: AuditTrailReader,
    inject: [OPERATOR_DATABASE],
    useFactory: (pool: StatementPool) => new AuditTrailReader(pool),
  },
];
