// Runs the JWKS provider as one instance of the service has it: in a Nest module, on a database, with a log.
import type { TestingModule } from '@nestjs/testing';
import { Test } from '@nestjs/testing';
import type { Logger } from 'pino';
import { Clock } from '../../src/platform/clock.js';
import type { DatabaseSettings, OpenDatabase } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { AlwaysLeader, Leader } from '../../src/platform/jobs/leader.js';
import { Notifications, SoleProcessNotifications } from '../../src/platform/jobs/notifications.js';
import { PostgresNotifications } from '../../src/platform/jobs/postgres.notifications.js';
import { LOGGER } from '../../src/platform/log/log.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { ExchangeTelemetry, SilentTelemetry } from '../../src/token-exchange/host/telemetry.js';
import type { JwksSettings } from '../../src/token-exchange/settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../../src/token-exchange/settings/token-exchange.options.js';
import { JWKS_PROVIDERS, JwksService } from '../../src/token-exchange/trust/jwks/jwks.service.js';
import { JwksKeyProvider } from '../../src/token-exchange/trust/jwks/jwks-key.provider.js';
import { JwksSnapshotRepository } from '../../src/token-exchange/trust/jwks/jwks-snapshot.repository.js';
import type { JwksEntry, TrustedKey } from '../../src/token-exchange/trust/trusted-key.js';

/** Leads when the test says so. */
export class AppointedLeader extends Leader {
  constructor(public isLeader: boolean) {
    super();
  }
}

export interface JwksInstanceParts {
  entries: readonly JwksEntry[];
  clock?: Clock;
  leader?: Leader;
  /** The source of announcements of other instances; the database's own by default. */
  notificationsUrl?: string;
  options?: Partial<JwksSettings>;
}

/** A log line as it is written. */
export type LogLine = Record<string, unknown> & { level: string; msg: string };

export class JwksInstance {
  readonly logLines: LogLine[] = [];
  /** Every statement that was sent to the database. */
  readonly statements: string[] = [];
  private module: TestingModule | undefined;

  private constructor(readonly database: OpenDatabase) {}

  /**
   * Starts an instance on an open database.
   * @param settings by which the database was opened
   */
  static async start(database: OpenDatabase, settings: DatabaseSettings, parts: JwksInstanceParts) {
    const instance = new JwksInstance(database);
    const logger = instance.createLogger();
    instance.recordStatements();
    instance.module = await Test.createTestingModule({
      providers: [
        {
          provide: TOKEN_EXCHANGE_OPTIONS,
          useValue: { jwks: { ...DEFAULTS, ...parts.options }, trustedKeys: parts.entries },
        },
        {
          provide: Database,
          useValue: new Database(database.dataSource),
        },
        { provide: Notifications, useValue: notificationsOn(settings, parts.notificationsUrl, logger) },
        { provide: Leader, useValue: parts.leader ?? new AlwaysLeader() },
        { provide: Clock, useValue: parts.clock ?? new Clock() },
        { provide: LOGGER, useValue: logger },
        { provide: ExchangeTelemetry, useClass: SilentTelemetry },
        ...JWKS_PROVIDERS,
      ],
    }).compile();
    await instance.module.init();
    return instance;
  }

  get keys(): JwksKeyProvider {
    return this.started.get(JwksKeyProvider);
  }

  get snapshots(): JwksSnapshotRepository {
    return this.started.get(JwksSnapshotRepository);
  }

  /** Runs the tasks that are due. */
  tick(): Promise<void> {
    return this.started.get(JwksService).tick();
  }

  replaceStored(entries: readonly JwksEntry[]): Promise<void> {
    return this.started.get(JwksService).begin(this.keys.replaceStored(entries));
  }

  async query(statement: string, parameters: unknown[] = []): Promise<unknown[]> {
    return this.database.dataSource.query<unknown[]>(statement, parameters);
  }

  async find(issuer: string, kid: string): Promise<TrustedKey | undefined> {
    return (await this.keys.find(issuer, kid, 'ES256'))[0];
  }

  /** What the instance answers without waiting; a promise counts as nothing. */
  held(issuer: string, kid: string): TrustedKey | undefined {
    const found = this.keys.find(issuer, kid, 'ES256');
    if (!(found instanceof Promise)) return found[0];
    // Nobody waits for this search, and the test may be over before it is.
    found.catch(() => undefined);
    return undefined;
  }

  /** The database stays open. */
  async stop(): Promise<void> {
    await this.module?.close();
  }

  private get started(): TestingModule {
    if (this.module === undefined) throw new Error('the instance has not started');
    return this.module;
  }

  private createLogger(): Logger {
    return createLogger('debug', { write: (line) => this.logLines.push(JSON.parse(line) as LogLine) });
  }

  private recordStatements(): void {
    const ignore = () => undefined;
    this.database.dataSource.logger = {
      logQuery: (statement: string) => this.statements.push(statement),
      logQueryError: ignore,
      logQuerySlow: ignore,
      logSchemaBuild: ignore,
      logMigration: ignore,
      log: ignore,
    };
  }
}

function notificationsOn(settings: DatabaseSettings, url: string | undefined, logger: Logger): Notifications {
  if (settings.kind === 'embedded') return new SoleProcessNotifications();
  return new PostgresNotifications({ connectionString: url ?? settings.url }, logger);
}

const DEFAULTS: JwksSettings = {
  refreshIntervalSeconds: 300,
  maxStaleSeconds: 86_400,
  allowHttp: true,
  allowPrivate: [],
};
