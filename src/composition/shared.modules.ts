// The modules that several others import.
import { SESSION_COOKIE } from '../token-exchange/instance.js';
import { join } from 'node:path';
import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { CoordinationModule } from '../platform/jobs/coordination.module.js';
import { Database } from '../platform/database/database.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { InstanceUsers } from '../instance/ports/instance-users.js';
import { purging } from '../platform/jobs/purge.job.js';
import { CountingStorage, THROTTLE_STORAGE } from '../platform/http/throttle/counting.storage.js';
import { DatabaseCounts, THROTTLE_PURGE } from '../platform/http/throttle/database-counts.js';
import { MemoryCounts } from '../platform/http/throttle/memory-counts.js';
import { LOGGER } from '../platform/log/log.js';
import type { Log } from '../platform/log/log.js';
import type { Metrics } from '../metrics/metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { metricsAddress } from '../instance/startup.js';
import { DatabaseOutages } from '../platform/http/database-outages.js';
import type { RefusedWork } from '../platform/http/database-outages.js';
import { UserRepository } from '../users/user.repository.js';
import { PersonalProjects, UserService } from '../users/user.service.js';
import { WebModule } from '../web/web.module.js';
import { ProjectRepository } from '../workspace/projects/project.repository.js';
import { SCOPES } from '../workspace/rights/rights.js';
import { tokenEndpointOf } from './routes.js';
import type { Logger } from 'pino';
import type { Coordination } from '../platform/jobs/coordination.module.js';
import type { OpenDatabase } from '../platform/database/data-source.js';
import type { GracefulShutdown } from '../platform/http/graceful-shutdown.js';
import type { FrameAncestors } from '../instance/frame-ancestors.js';
import type { PresentEntries } from '../instance/present-entries.js';
import type { Startup } from '../instance/startup.js';
import { Clock } from '../platform/clock.js';
import type { KeyRing } from '../platform/secrets/key-ring.js';

/** The parts of the application. */
export interface Parts {
  readonly startup: Startup;
  readonly database: OpenDatabase;
  /** Of the embedded database; undefined on PostgreSQL. */
  readonly dataDirectory?: string;
  readonly coordination: Coordination;
  readonly keyRing: KeyRing;
  readonly entries: PresentEntries;
  readonly frameAncestors: FrameAncestors;
  readonly shutdown: GracefulShutdown;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folder of the compiled sources, beside which the page's files lie. */
  readonly sourceDirectory: string;
}

/** Apart from the rest of the workspace because users need them. */
const PROJECTS = [ProjectRepository, { provide: PersonalProjects, useExisting: ProjectRepository }];

export type SharedModules = ReturnType<typeof sharedModules>;

/** What several modules import. Each is registered once: registered again, its providers would be there twice. */
export function sharedModules({ startup, keyRing, clock: time, logger, ...parts }: Parts, counters: Metrics) {
  const { baseUrl, throttleStore: store } = startup.config;
  const { sessionLifetimeSeconds, partitionedCookie, maxSessionsPerUser } = startup.config;
  const onFailOpen = () => counters.throttleFailOpen.inc();
  const clock = offering(class ClockModule {}, [{ provide: Clock, useValue: time }]);
  const logging = offering(class LoggingModule {}, [{ provide: LOGGER, useValue: logger }]);
  const database = DatabaseModule.register(parts.database);
  const coordination = CoordinationModule.register(parts.coordination, parts.database, logger);
  const audit = AuditModule.register(keyRing, [logging, database]);
  const metrics = MetricsModule.register(counters, logger, metricsAddress(startup));
  const outages = offering(class OutagesModule {}, [outagesCountedBy(counters)], [logging, database]);
  const throttle = offering(class ThrottleModule {}, throttleParts(store, onFailOpen), [
    clock,
    logging,
    database,
    coordination,
  ]);
  const projects = offering(class ProjectsModule {}, PROJECTS, [database]);
  const users = offering(class UsersModule {}, [UserRepository, UserService], [database, projects]);
  const access = AccessModule.register(
    {
      baseUrl,
      scopes: SCOPES,
      resourceName: 'Instance API',
      resourceDocumentation: `${baseUrl}/api/v1/docs`,
      tokenEndpoint: () => tokenEndpointOf({ startup, clock: time, entries: parts.entries }),
      dpopNonce: startup.config.dpopNonce,
      onBearerRefused: (reason) => counters.apiRefusals.inc({ reason }),
      onProofForgotten: () => counters.proofsForgotten.inc(),
    },
    {
      cookieName: SESSION_COOKIE,
      lifetimeSeconds: sessionLifetimeSeconds,
      maxPerUser: maxSessionsPerUser,
      partitioned: partitionedCookie,
    },
    keyRing,
    InstanceUsers,
    [clock, logging, database, coordination, audit, users, outages],
  );
  const web = WebModule.register({
    publicDirectory: join(parts.sourceDirectory, 'web', 'public'),
    frameAncestors: () => parts.frameAncestors.current,
  });
  return {
    clock,
    logging,
    database,
    coordination,
    audit,
    metrics,
    outages,
    throttle,
    projects,
    users,
    access,
    web,
  };
}

/** A module that offers all that it provides. */
export function offering(
  module: Type,
  providers: Provider[],
  imports: readonly DynamicModule[] = [],
): DynamicModule {
  return { module, imports: [...imports], providers, exports: providers };
}

/** @param onFailOpen called for each request that is let through uncounted because the database did not answer */
function throttleParts(store: 'memory' | 'database', onFailOpen: () => void): Provider[] {
  const isShared = store === 'database';
  const useFactory = (database: Database, clock: Clock, log: Log) =>
    new CountingStorage(
      isShared ? new DatabaseCounts(database, clock, log, onFailOpen) : new MemoryCounts(clock),
    );
  return [
    { provide: CountingStorage, inject: [Database, Clock, LOGGER], useFactory },
    { provide: THROTTLE_STORAGE, useExisting: CountingStorage },
    ...(isShared ? [purging(THROTTLE_PURGE)] : []),
  ];
}

function outagesCountedBy(metrics: Metrics): Provider {
  const watch = {
    onRefused: (flow: RefusedWork) => metrics.databaseRefusals.inc({ flow }),
    onUnrecorded: () => metrics.unrecordedEvents.inc(),
  };
  const useFactory = (database: Database, log: Log) => new DatabaseOutages(database, log, watch);
  return { provide: DatabaseOutages, inject: [Database, LOGGER], useFactory };
}
