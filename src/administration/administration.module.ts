// Performs administrative operations in the running service, for commands that come by its socket and for the operator's page.
import type { DynamicModule, ModuleMetadata, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { AuditTrailFollower } from '../audit/audit-trail.follower.js';
import { AuditTrailReader } from '../audit/audit-trail.reader.js';
import { OperatorAccountRepository } from './accounts/operator-account.repository.js';
import { OperatorSessionRepository } from './accounts/operator-session.repository.js';
import { UserProfileRepository } from './accounts/user-profile.repository.js';
import {
  AuditBus,
  JwksSnapshotRepository,
  RevocationFollower,
  RevocationRepository,
  SessionRepository,
  StoredEntryChanges,
  StoredEntryRepository,
} from '../token-exchange/instance.js';
import { Database } from '../platform/database/database.js';
import { Clock } from '../platform/clock.js';
import { UserRepository } from '../users/user.repository.js';
import { UserService } from '../users/user.service.js';
import { ProjectRepository } from '../workspace/projects/project.repository.js';
import { Quotas } from '../workspace/quotas/quotas.js';
import { WorkflowRepository } from '../workspace/workflows/workflow.repository.js';
import { Administration } from './administration.js';
import type { InstanceParts, InstanceSettings } from './instance-parts.js';

@Module({})
export class AdministrationModule {
  /**
   * @param settings what is configured
   * @param imports modules that offer clock, log, database, audit bus, sessions, revocations, users, projects, workflows and quotas
   */
  static register(
    settings: Omit<InstanceSettings, 'limits'>,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    return {
      module: AdministrationModule,
      imports,
      providers: [
        JwksSnapshotRepository,
        StoredEntryRepository,
        OperatorAccountRepository,
        OperatorSessionRepository,
        UserProfileRepository,
        administration(settings),
      ],
      exports: [Administration, JwksSnapshotRepository, UserProfileRepository],
    };
  }
}

/** The arguments of `administration`, in order. */
const NEEDS = [
  AuditBus,
  Clock,
  UserRepository,
  UserService,
  ProjectRepository,
  WorkflowRepository,
  Quotas,
  JwksSnapshotRepository,
  StoredEntryRepository,
  SessionRepository,
  RevocationRepository,
  RevocationFollower,
  Database,
  AuditTrailReader,
  AuditTrailFollower,
  OperatorAccountRepository,
  OperatorSessionRepository,
  UserProfileRepository,
];

function administration(settings: Omit<InstanceSettings, 'limits'>): Provider {
  const useFactory = (
    audit: AuditBus,
    clock: Clock,
    users: UserRepository,
    userService: UserService,
    projects: ProjectRepository,
    workflows: WorkflowRepository,
    quotas: Quotas,
    keySets: JwksSnapshotRepository,
    repository: StoredEntryRepository,
    sessions: SessionRepository,
    revocations: RevocationRepository,
    follower: RevocationFollower,
    database: Database,
    trail: AuditTrailReader,
    trailFollower: AuditTrailFollower,
    operatorAccounts: OperatorAccountRepository,
    operatorSessions: OperatorSessionRepository,
    userProfiles: UserProfileRepository,
  ) => {
    const storedEntries = new StoredEntryChanges(repository, settings.trust);
    const learnRevocations = () => follower.hear();
    const repositories = { users, projects, workflows, quotas, keySets, sessions, revocations, trail };
    const operators = { operatorAccounts, operatorSessions, userProfiles };
    const known = {
      ...repositories,
      ...operators,
      userService,
      storedEntries,
      configuredIn: settings.configuredIn,
      trailFollower,
      learnRevocations,
    };
    const parts: InstanceParts = { ...known, explain: settings.explain(known, database, clock) };
    return new Administration(parts, audit, clock);
  };
  return {
    provide: Administration,
    useFactory,
    inject: NEEDS,
  };
}
