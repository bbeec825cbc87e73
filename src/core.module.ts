// What every module may inject: configuration, clock, log, database, leader, audit trail and bus, throttles.
import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { AuditModule } from './audit/audit.module.js';
import type { Startup } from './config/startup.js';
import { STARTUP } from './config/startup.js';
import { FrameAncestors } from './instance/frame-ancestors.js';
import { PresentEntries } from './instance/present-entries.js';
import { Metrics } from './metrics/metrics.js';
import { Clock } from './platform/clock.js';
import { Database, OPERATOR_DATABASE } from './platform/database/database.js';
import { DATABASE_SETTINGS } from './platform/database/data-source.js';
import type { DatabaseSettings, OpenDatabase } from './platform/database/data-source.js';
import { EmbeddedMaintenanceRepository } from './platform/database/embedded-maintenance.repository.js';
import { Transactions } from './platform/database/transaction.js';
import { DatabaseOutages } from './platform/http/database-outages.js';
import { GracefulShutdown } from './platform/http/graceful-shutdown.js';
import { SOURCE_DIRECTORY } from './platform/http/page.controller.js';
import {
  CountingStorage,
  MemoryCounts,
  THROTTLE_STORAGE,
} from './platform/http/throttle/counting.storage.js';
import { DatabaseCounts, THROTTLE_PURGE } from './platform/http/throttle/database-counts.js';
import { leadershipOf } from './platform/jobs/advisory-lock.leader.js';
import { EmbeddedMaintenanceJob } from './platform/jobs/embedded-maintenance.job.js';
import { AlwaysLeader, Leader } from './platform/jobs/leader.js';
import { Notifications, SoleProcessNotifications } from './platform/jobs/notifications.js';
import { notificationsOf } from './platform/jobs/postgres.notifications.js';
import { purging } from './platform/jobs/purge.job.js';
import { LOGGER } from './platform/log/log.js';
import { KeyRing } from './platform/secrets/key-ring.js';

/** What is made before Nest starts, so that a fault of it is one of the start, and the server has it. */
export interface CoreParts {
  readonly startup: Startup;
  readonly databaseSettings: DatabaseSettings;
  readonly database: OpenDatabase;
  readonly keyRing: KeyRing;
  readonly entries: PresentEntries;
  readonly metrics: Metrics;
  readonly shutdown: GracefulShutdown;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folder of the compiled sources, beside which the pages' files lie. */
  readonly sourceDirectory: string;
}

@Module({})
export class CoreModule {
  static register(parts: CoreParts): DynamicModule {
    const providers = [
      ...made(parts),
      ...database(parts.database),
      ...instances(parts.database),
      ...throttles(parts),
      outages(parts),
    ];
    return {
      module: CoreModule,
      global: true,
      imports: [EventEmitterModule.forRoot({ wildcard: true }), AuditModule],
      providers: [...providers, ...maintenance(parts)],
      exports: [...providers, AuditModule],
    };
  }
}

function made({ startup, entries, ...parts }: CoreParts): Provider[] {
  return [
    { provide: STARTUP, useValue: startup },
    { provide: DATABASE_SETTINGS, useValue: parts.databaseSettings },
    { provide: KeyRing, useValue: parts.keyRing },
    { provide: PresentEntries, useValue: entries },
    { provide: FrameAncestors, useValue: new FrameAncestors(startup.config, entries) },
    { provide: Metrics, useValue: parts.metrics },
    { provide: GracefulShutdown, useValue: parts.shutdown },
    { provide: Clock, useValue: parts.clock },
    { provide: LOGGER, useValue: parts.logger },
    { provide: SOURCE_DIRECTORY, useValue: parts.sourceDirectory },
  ];
}

/** TypeOrmModule would open one by itself: it is open already, and its schema up to date. */
function database({ dataSource, operatorPool }: OpenDatabase): Provider[] {
  return [
    { provide: DataSource, useValue: dataSource },
    { provide: Database, useFactory: () => new Database(dataSource) },
    { provide: OPERATOR_DATABASE, useFactory: () => new Database(dataSource, () => operatorPool) },
    Transactions,
  ];
}

/** How the instances on one database agree. The embedded database belongs to one (D46), which leads. */
function instances({ kind }: OpenDatabase): Provider[] {
  if (kind === 'postgresql') return [...leadershipOf(), ...notificationsOf()];
  return [
    { provide: Leader, useClass: AlwaysLeader },
    { provide: Notifications, useClass: SoleProcessNotifications },
  ];
}

/** In the database for all instances together, or in the memory of each. */
function throttles({ startup, clock, logger, metrics }: CoreParts): Provider[] {
  const isShared = startup.config.throttleStore === 'database';
  const onFailOpen = () => metrics.throttleFailOpen.inc();
  const useFactory = (database: Database) =>
    new CountingStorage(
      isShared ? new DatabaseCounts(database, clock, logger, onFailOpen) : new MemoryCounts(clock),
    );
  return [
    { provide: CountingStorage, inject: [Database], useFactory },
    { provide: THROTTLE_STORAGE, useExisting: CountingStorage },
    ...(isShared ? [purging(THROTTLE_PURGE)] : []),
  ];
}

function outages({ metrics, logger }: CoreParts): Provider {
  const watch = {
    onRefused: (flow: string) => metrics.databaseRefusals.inc({ flow }),
    onUnrecorded: () => metrics.unrecordedEvents.inc(),
  };
  const useFactory = (database: Database) => new DatabaseOutages(database, logger, watch);
  return { provide: DatabaseOutages, inject: [Database], useFactory };
}

/** PostgreSQL has processes of its own for that. */
function maintenance({ database: { kind, dataSource }, logger }: CoreParts): Provider[] {
  if (kind === 'postgresql') return [];
  const useFactory = (leader: Leader) =>
    new EmbeddedMaintenanceJob(new EmbeddedMaintenanceRepository(dataSource), leader, logger);
  return [{ provide: EmbeddedMaintenanceJob, inject: [Leader], useFactory }];
}
