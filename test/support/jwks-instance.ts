// Runs the JWKS provider as one instance of the service has it: in a Nest module, on a database, with a log.
import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Clock } from '../../src/clock.js';
import type { OpenDatabase } from '../../src/database/data-source.js';
import { Leader, SoleLeader } from '../../src/database/leader.js';
import {
  Notifications,
  PostgresNotifications,
  SoleProcessNotifications,
} from '../../src/database/notifications.js';
import { LOGGER, createLogger } from '../../src/logging/logger.js';
import { JwksKeyProvider } from '../../src/token-exchange/keys/jwks-key.provider.js';
import type { JwksOptions } from '../../src/token-exchange/keys/jwks-options.js';
import { JWKS_OPTIONS } from '../../src/token-exchange/keys/jwks-options.js';
import {
  JwksSnapshot,
  JwksSnapshotRepository,
} from '../../src/token-exchange/keys/jwks-snapshot.repository.js';
import type { JwksEntry, TrustedKey } from '../../src/token-exchange/keys/trusted-key.js';
import type { TestDatabase } from './databases.js';

/** An instance that another one leads. */
export class LedByAnother extends Leader {
  readonly isLeader = false;

  async stop(): Promise<void> {
    // It has nothing to give up.
  }
}

export interface JwksInstanceParts {
  entries: readonly JwksEntry[];
  clock?: Clock;
  leader?: Leader;
  /** Where the announcements of other instances come from; the database's own if left out. */
  notificationsUrl?: string;
  options?: Partial<JwksOptions>;
}

/** A log line as it is written. */
export type LogLine = Record<string, unknown> & { level: string; msg: string };

export class JwksInstance {
  readonly logLines: LogLine[] = [];
  /** Every statement that went to the database. */
  readonly statements: string[] = [];
  private module: TestingModule | undefined;

  private constructor(readonly database: OpenDatabase) {}

  /** Starts an instance; it is closed with the block at the latest, because the database is. */
  static async start(testDatabase: TestDatabase, parts: JwksInstanceParts): Promise<JwksInstance> {
    const instance = new JwksInstance(await testDatabase.open([JwksSnapshot]));
    const notifications = instance.notifications(testDatabase, parts.notificationsUrl);
    instance.module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => instance.dataSource.options,
          dataSourceFactory: () => Promise.resolve(instance.dataSource),
        }),
        TypeOrmModule.forFeature([JwksSnapshot]),
      ],
      providers: [
        { provide: JWKS_OPTIONS, useValue: { ...DEFAULTS, ...parts.options, entries: parts.entries } },
        { provide: Leader, useValue: parts.leader ?? new SoleLeader() },
        { provide: Clock, useValue: parts.clock ?? new Clock() },
        { provide: Notifications, useValue: notifications },
        { provide: LOGGER, useValue: instance.createLogger() },
        JwksSnapshotRepository,
        JwksKeyProvider,
      ],
    }).compile();
    instance.recordStatements();
    await instance.module.init();
    return instance;
  }

  get keys(): JwksKeyProvider {
    return this.started.get(JwksKeyProvider);
  }

  get snapshots(): JwksSnapshotRepository {
    return this.started.get(JwksSnapshotRepository);
  }

  get dataSource(): DataSource {
    return this.database.dataSource;
  }

  /** What the instance answers without waiting; a promise counts as nothing. */
  held(issuer: string, kid: string): TrustedKey | undefined {
    const found = this.keys.find(issuer, kid);
    if (!(found instanceof Promise)) return found;
    // Nobody waits for this search, and the test may be over before it is.
    found.catch(() => undefined);
    return undefined;
  }

  async stop(): Promise<void> {
    await this.module?.close();
    await this.database.close();
  }

  private get started(): TestingModule {
    if (this.module === undefined) throw new Error('the instance has not started');
    return this.module;
  }

  private notifications({ settings }: TestDatabase, url: string | undefined): Notifications {
    if (settings.kind === 'embedded') return new SoleProcessNotifications();
    return new PostgresNotifications(url ?? settings.url, this.createLogger());
  }

  private createLogger() {
    return createLogger('debug', { write: (line) => this.logLines.push(JSON.parse(line) as LogLine) });
  }

  private recordStatements(): void {
    const ignore = () => undefined;
    this.dataSource.logger = {
      logQuery: (statement: string) => this.statements.push(statement),
      logQueryError: ignore,
      logQuerySlow: ignore,
      logSchemaBuild: ignore,
      logMigration: ignore,
      log: ignore,
    };
  }
}

const DEFAULTS: Omit<JwksOptions, 'entries'> = {
  refreshIntervalSeconds: 300,
  maxStaleSeconds: 86_400,
  allowHttp: true,
  allowPrivate: [],
};
