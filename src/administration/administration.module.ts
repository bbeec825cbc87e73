// Provides administrative operations: for the running service, with commands from its socket and the operator's page; and for commands
// that use the database directly, which start nothing.
import type { Provider, Type } from '@nestjs/common';
import { Inject, Injectable, Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { AuditTrailReader } from '../audit/audit-trail.reader.js';
import { VARIABLES } from '../config/environment.js';
import { labelOf } from '../config/load-config.js';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { trustedKeysRules } from '../instance/prepare-startup.js';
import { explanationRules, USER_TABLE } from '../instance/token-exchange-settings.js';
import { Clock } from '../platform/clock.js';
import type { StatementPool } from '../platform/database/database.js';
import { OPERATOR_DATABASE } from '../platform/database/database.js';
import type { ExplanationRules, StoredEntriesRules, Transmitter } from '../token-exchange/instance.js';
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
import { OperatorSessions, PersonalProjects } from '../users/user.repository.js';
import { UsersModule } from '../users/users.module.js';
import { InstanceProjects } from '../workspace/projects/instance-projects.js';
import { PersonalProjectRepository, ProjectRepository } from '../workspace/projects/project.repository.js';
import { Quotas } from '../workspace/quotas/quotas.js';
import { WorkflowRepository } from '../workspace/workflows/workflow.repository.js';
import { OperatorAccountRepository } from './accounts/operator-account.repository.js';
import { OperatorSessionRepository } from './accounts/operator-session.repository.js';
import { UserProfileRepository } from './accounts/user-profile.repository.js';
import { Administration } from './administration.js';
import { ClientOperations } from './clients/clients.operations.js';
import { EntryListOperations, EntryOperations } from './entries/entries.operations.js';
import { InstanceExplainer, TokenOperations } from './explain/explain-token.operation.js';
import { KeySetOperations } from './keys/key-sets.operations.js';
import { RevocationOperations, SigningKeyOperations } from './keys/keys.operations.js';
import type { Operation } from './operation.js';
import { AdministrationSettings, CommandError, operationsOf } from './operation.js';
import { ProjectOperations, WorkflowOperations } from './projects/projects.operations.js';
import { SignalOperations } from './signals/signals.operations.js';
import { AuditOperations, TrailFilters } from './trail/read-audit-trail.operation.js';
import { UsageOperations } from './usage/usage.operations.js';
import { OwnerProtection } from './users/owner-protection.js';
import { UserChangeOperations, UserOperations } from './users/users.operations.js';

/** What implements the users' ports, for the running service and for commands that use the database directly. */
export const USER_PORTS: Provider[] = [
  OperatorSessionRepository,
  { provide: OperatorSessions, useExisting: OperatorSessionRepository },
  { provide: PersonalProjects, useClass: PersonalProjectRepository },
];

/** All classes with operations that a command may request from the running service. */
const OPERATION_TYPES: readonly Type<object>[] = [
  KeySetOperations,
  RevocationOperations,
  SigningKeyOperations,
  SignalOperations,
  EntryListOperations,
  EntryOperations,
  ClientOperations,
  UserOperations,
  UserChangeOperations,
  ProjectOperations,
  WorkflowOperations,
  TokenOperations,
  AuditOperations,
  UsageOperations,
];

export const OPERATIONS: readonly Operation[] = OPERATION_TYPES.flatMap(operationsOf);

/** @throws CommandError for an unknown name */
export function findOperation(name: string): Operation {
  const operation = OPERATIONS.find((one) => one.name === name);
  if (operation === undefined) throw new CommandError('The service has no such command.');
  return operation;
}

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

@Injectable()
class ServiceSettings extends AdministrationSettings {
  readonly trust: StoredEntriesRules;
  readonly configuredIn: string;
  readonly transmitters: readonly Transmitter[];
  private readonly explanation: ExplanationRules;

  constructor(@Inject(STARTUP) startup: Startup, clock: Clock) {
    super();
    this.trust = { configured: startup.trustedKeys, rules: trustedKeysRules(startup.config) };
    this.configuredIn = labelOf(VARIABLES.trustedKeys, startup.given);
    this.transmitters = startup.config.transmitters;
    this.explanation = explanationRules(startup, clock);
  }

  explanationRules(): Promise<ExplanationRules> {
    return Promise.resolve(this.explanation);
  }
}

@Module({
  imports: [AccessModule, UsersModule],
  providers: [...ADMINISTRATION_PROVIDERS, { provide: AdministrationSettings, useClass: ServiceSettings }],
  exports: [...ADMINISTRATION_PROVIDERS],
})
export class AdministrationModule {}
