// What every module may inject: configuration, clock, log, database, leader, audit trail and bus, throttles, the
// users' ports.
import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { Logger } from 'pino';
import { USER_PORTS } from './administration/administration.module.js';
import { AuditModule } from './audit/audit.module.js';
import { VARIABLES } from './config/environment.js';
import type { Startup } from './config/startup.js';
import { STARTUP } from './config/startup.js';
import { FrameAncestors, PresentEntries } from './instance/frame-ancestors.js';
import { encryptionKeys } from './instance/prepare-startup.js';
import { SCHEMA } from './instance/schema.js';
import { Metrics } from './metrics/metrics.js';
import { Clock } from './platform/clock.js';
import type { DatabaseSettings, OpenDatabase } from './platform/database/data-source.js';
import { OPEN_DATABASE } from './platform/database/data-source.js';
import { Database } from './platform/database/database.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { ConcurrencyLimit } from './platform/http/concurrency-limit.js';
import { GracefulShutdown } from './platform/http/connections.js';
import { DatabaseOutages } from './platform/http/database-outages.js';
import { SOURCE_DIRECTORY } from './platform/http/page.controller.js';
import { DatabaseCounts, THROTTLE_PURGE } from './platform/http/throttle/database-counts.js';
import { MemoryCounts, THROTTLE_STORAGE } from './platform/http/throttle/rate-limit.js';
import { leadershipOf } from './platform/jobs/advisory-lock.leader.js';
import {
  EmbeddedMaintenanceJob,
  EmbeddedMaintenanceRepository,
} from './platform/jobs/embedded-maintenance.job.js';
import { AlwaysLeader, Leader } from './platform/jobs/leader.js';
import { Notifications, SoleProcessNotifications } from './platform/jobs/notifications.js';
import { notificationsOf } from './platform/jobs/postgres.notifications.js';
import { purging } from './platform/jobs/purge.job.js';
import type { Log } from './platform/log/log.js';
import { LOGGER } from './platform/log/log.js';
import type { LineOutput } from './platform/log/logger.js';
import { LOG_OUTPUT, RequestTraces } from './platform/log/logger.js';
import { KeyRing } from './platform/secrets/key-ring.js';
import { StoredEntryFollower } from './token-exchange/instance.js';

/** Everything that comes from outside Nest. */
export interface CoreSettings {
  readonly startup: Startup;
  readonly logger: Logger;
  /** Where `logger` writes. */
  readonly output: LineOutput;
  /** The folder of the compiled sources. The files of the pages are in folders below it. */
  readonly sourceDirectory: string;
  readonly database: DatabaseSettings;
  readonly clock: Clock;
}

@Module({})
export class CoreModule {
  static register(settings: CoreSettings): DynamicModule {
    const { startup, database } = settings;
    const providers = [
      ...given(settings),
      ...server(startup),
      ...trust(startup),
      ...instances(database),
      ...throttles(startup),
      ...USER_PORTS,
      {
        provide: KeyRing,
        inject: [OPEN_DATABASE],
        useFactory: (database: Partial<OpenDatabase> | undefined) => keyRing(startup, database),
      },
      Metrics,
    ];
    return {
      module: CoreModule,
      global: true,
      imports: [
        DatabaseModule.register(database, SCHEMA),
        EventEmitterModule.forRoot({ wildcard: true }),
        AuditModule,
      ],
      providers: [...providers, ...maintenance(database)],
      exports: [...providers, DatabaseModule, AuditModule],
    };
  }
}

function given({ startup, clock, sourceDirectory, logger, output }: CoreSettings): Provider[] {
  return [
    { provide: STARTUP, useValue: startup },
    { provide: Clock, useValue: clock },
    { provide: SOURCE_DIRECTORY, useValue: sourceDirectory },
    { provide: LOG_OUTPUT, useValue: output },
    RequestTraces,
    {
      provide: LOGGER,
      inject: [RequestTraces],
      useFactory: (traces: RequestTraces) => traces.loggerOn(logger),
    },
  ];
}

/**
 * On the embedded database the first start generates the key, which is safe only while this process has the database. Nest calls this
 * factory even if the one of the database has failed.
 */
function keyRing({ config }: Startup, database: Partial<OpenDatabase> | undefined): KeyRing {
  if (database?.kind === undefined) throw new Error('the database is not open');
  return new KeyRing(encryptionKeys(config), VARIABLES.encryptionKeys.name);
}

function server({ config }: Startup): Provider[] {
  return [
    GracefulShutdown,
    {
      provide: ConcurrencyLimit,
      inject: [LOGGER, Metrics],
      useFactory: (log: Log, metrics: Metrics) => {
        const onShed = () => metrics.requestsShed.inc();
        const limit = new ConcurrencyLimit(config.databaseWaitMs, log, onShed);
        metrics.watchRequests(() => limit.count);
        return limit;
      },
    },
    {
      provide: DatabaseOutages,
      inject: [Database, LOGGER, Metrics],
      useFactory: (database: Database, log: Log, metrics: Metrics) =>
        new DatabaseOutages(database, log, {
          onRefused: (flow: string) => metrics.databaseRefusals.inc({ flow }),
          onUnrecorded: () => metrics.unrecordedEvents.inc(),
        }),
    },
  ];
}

function trust({ config, trustedKeys }: Startup): Provider[] {
  return [
    {
      provide: PresentEntries,
      // There is no follower while token exchange is off.
      inject: [{ token: StoredEntryFollower, optional: true }],
      useFactory: (stored?: StoredEntryFollower) => {
        const entries = new PresentEntries(trustedKeys);
        stored?.onChange((present) => entries.replaceStored(present));
        return entries;
      },
    },
    {
      provide: FrameAncestors,
      inject: [PresentEntries, LOGGER],
      useFactory: (entries: PresentEntries, log: Log) => new FrameAncestors(config, entries, log),
    },
  ];
}

/** How the instances on one database agree. The embedded database belongs to one instance (D46), which leads. */
function instances({ kind }: DatabaseSettings): Provider[] {
  if (kind === 'postgresql') return [...leadershipOf(), ...notificationsOf()];
  return [
    { provide: Leader, useClass: AlwaysLeader },
    { provide: Notifications, useClass: SoleProcessNotifications },
  ];
}

/** In the database for all instances together, or in the memory of each. */
function throttles({ config }: Startup): Provider[] {
  const isShared = config.throttleStore === 'database';
  return [
    {
      provide: THROTTLE_STORAGE,
      inject: [Database, Clock, LOGGER, Metrics],
      useFactory: (database: Database, clock: Clock, log: Log, metrics: Metrics) => {
        const onFailOpen = () => metrics.throttleFailOpen.inc();
        return isShared ? new DatabaseCounts(database, clock, log, onFailOpen) : new MemoryCounts(clock);
      },
    },
    ...(isShared ? [purging(THROTTLE_PURGE)] : []),
  ];
}

/** PostgreSQL has processes of its own for that. */
function maintenance({ kind }: DatabaseSettings): Provider[] {
  if (kind === 'postgresql') return [];
  const useFactory = (database: Database, leader: Leader, log: Logger) =>
    new EmbeddedMaintenanceJob(new EmbeddedMaintenanceRepository(database), leader, log);
  return [{ provide: EmbeddedMaintenanceJob, inject: [Database, Leader, LOGGER], useFactory }];
}
