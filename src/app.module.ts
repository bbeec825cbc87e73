// The composition root: puts the modules together, and holds the only `if`.
import { join } from 'node:path';
import type { DynamicModule } from '@nestjs/common';
import { Global, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { AccessModule } from './access/access.module.js';
import type { TokenEndpoint } from './access/access.options.js';
import { AuditModule } from './audit/audit.module.js';
import type { LicenseFeature } from './config/license.js';
import type { Coordination } from './coordination/coordination.js';
import { CoordinationModule } from './coordination/coordination.module.js';
import type { OpenDatabase } from './database/data-source.js';
import { DatabaseModule } from './database/database.module.js';
import { Clock } from './foundation/clock.js';
import type { ReadinessCheck } from './health/health.controller.js';
import { HealthModule } from './health/health.module.js';
import { HostModule } from './host/host.module.js';
import { ErrorFilter } from './http/error.filter.js';
import { ThrottleModule } from './http/throttle/throttle.module.js';
import { LOGGER } from './logging/logger.js';
import { Metrics } from './metrics/metrics.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { KeyRing } from './sealing/key-ring.js';
import type { Startup } from './start/startup.js';
import { TOKEN_PATH } from './token-exchange/delegation/delegation.controller.js';
import { TOKEN_EXCHANGE_GRANT } from './token-exchange/delegation/token-exchange.form.js';
import { JwksKeyProvider } from './token-exchange/keys/jwks/jwks-key.provider.js';
import { TokenExchangeModule } from './token-exchange/token-exchange.module.js';
import type { TokenExchangeOptions } from './token-exchange/token-exchange.options.js';
import { ASSIGNABLE_ROLES, MEMBER_ROLE, OWNER_ROLE } from './users/role.js';
import { UsersModule } from './users/users.module.js';
import { WebModule } from './web/web.module.js';
import { ProjectsModule } from './workspace/projects/projects.module.js';
import { ReferenceModule } from './workspace/reference/reference.module.js';
import { WorkspaceModule } from './workspace/workspace.module.js';

/** What the application is put together from. */
export interface Parts {
  readonly startup: Startup;
  readonly database: OpenDatabase;
  readonly coordination: Coordination;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folder of the compiled sources, beside which the page's files lie. */
  readonly sourceDirectory: string;
}

@Module({})
export class AppModule {
  static register(parts: Parts): DynamicModule {
    const { startup, database, coordination, keyRing, clock, logger, sourceDirectory } = parts;
    const metrics = new Metrics();
    const { baseUrl, sessionLifetimeSeconds, partitionedCookie, throttleStore } = startup.config;
    const isLicensed = (feature: LicenseFeature) => startup.license.includes(feature, clock.nowMs());
    return {
      module: AppModule,
      imports: [
        FoundationModule.register(parts),
        DatabaseModule.register(database),
        CoordinationModule.register(coordination, database, logger),
        AuditModule,
        MetricsModule.register(metrics),
        ThrottleModule.register({ store: throttleStore, onFailOpen: () => metrics.throttleFailOpen.inc() }),
        UsersModule.register(ProjectsModule),
        AccessModule.register(
          {
            baseUrl,
            sessionLifetimeSeconds,
            partitionedCookie,
            tokenEndpoint: () => tokenEndpoint(startup, clock),
          },
          keyRing,
        ),
        WorkspaceModule.register(
          {
            isLicensed,
            callsPerMinute: startup.config.apiCallsPerMinute,
            onThrottled: () => metrics.throttled.inc({ flow: 'api' }),
          },
          keyRing,
        ),
        ReferenceModule,
        WebModule.register({ publicDirectory: join(sourceDirectory, 'web', 'public') }),
        ...tokenExchange(parts),
      ],
      providers: [{ provide: APP_FILTER, useClass: ErrorFilter }],
    };
  }
}

/**
 * Whether the feature is there at all.
 * @rule 1.4 Without the flag or the licence the module is not loaded, and both endpoints answer 404.
 */
export function isTokenExchangeAvailable({ config, license }: Startup, clock: Clock): boolean {
  return config.featureFlag && license.includes('token-exchange', clock.nowMs());
}

/** Undefined where it is absent or switched off: what answers 404 or 501 is not announced. */
function tokenEndpoint(startup: Startup, clock: Clock): TokenEndpoint | undefined {
  const isOffered = startup.config.exchangeEnabled && isTokenExchangeAvailable(startup, clock);
  return isOffered ? { path: TOKEN_PATH, grantType: TOKEN_EXCHANGE_GRANT } : undefined;
}

/** The only `if`: with the module its keys belong to readiness, without it the database alone. */
function tokenExchange({ startup, clock }: Parts): DynamicModule[] {
  if (!isTokenExchangeAvailable(startup, clock)) {
    const useFactory = (database: DataSource) => [databaseCheck(database)];
    return [HealthModule.registerAsync({ inject: [DataSource], useFactory })];
  }
  const module = TokenExchangeModule.register(tokenExchangeOptions(startup, clock), [HostModule]);
  const useFactory = (database: DataSource, keys: JwksKeyProvider) => [
    databaseCheck(database),
    keySetCheck(keys),
  ];
  return [
    module,
    HealthModule.registerAsync({ imports: [module], inject: [DataSource, JwksKeyProvider], useFactory }),
  ];
}

function tokenExchangeOptions({ config, license, trustedKeys }: Startup, clock: Clock): TokenExchangeOptions {
  return {
    trustedKeys,
    roles: { assignable: ASSIGNABLE_ROLES, owner: OWNER_ROLE, initial: MEMBER_ROLE },
    embedLogin: { enabled: config.embedLoginEnabled, perMinute: config.embedLoginsPerMinute },
    exchange: {
      enabled: config.exchangeEnabled,
      perMinute: config.exchangesPerMinute,
      maxTokenLifetimeSeconds: config.maxTokenLifetimeSeconds,
    },
    clockToleranceSeconds: config.clockToleranceSeconds,
    replayPurge: {
      intervalSeconds: config.jtiCleanupIntervalSeconds,
      batchSize: config.jtiCleanupBatchSize,
    },
    jwks: {
      refreshIntervalSeconds: config.keyRefreshIntervalSeconds,
      maxStaleSeconds: config.jwksMaxStaleSeconds,
      allowHttp: config.jwksAllowHttp,
      allowPrivate: config.jwksAllowPrivate,
    },
    isLicensed: () => license.includes('token-exchange', clock.nowMs()),
  };
}

function databaseCheck(database: DataSource): ReadinessCheck {
  return {
    name: 'database',
    isReady: async () => {
      await database.query('SELECT 1');
      return true;
    },
  };
}

/** One dead endpoint must not take every instance out of service: a finished attempt is enough (D48). */
function keySetCheck(keys: JwksKeyProvider): ReadinessCheck {
  const isReady = () => Promise.resolve(keys.status().every((status) => status.hasSnapshotOrAttempt));
  return { name: 'key sets', isReady };
}

/** What every module may ask for: the clock and the log. */
@Global()
@Module({})
class FoundationModule {
  static register({ clock, logger }: Pick<Parts, 'clock' | 'logger'>): DynamicModule {
    return {
      module: FoundationModule,
      providers: [
        { provide: Clock, useValue: clock },
        { provide: LOGGER, useValue: logger },
      ],
      exports: [Clock, LOGGER],
    };
  }
}
