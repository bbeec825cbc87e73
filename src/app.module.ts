// The composition root: puts the modules together, or leaves token exchange out.
import { join } from 'node:path';
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { getStorageToken } from '@nestjs/throttler';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { AccessModule } from './access/access.module.js';
import type { TokenEndpoint } from './access/access.options.js';
import { SERVER_METADATA_PATHS } from './access/well-known.js';
import { AuditTrailRepository } from './audit/audit-trail.repository.js';
import { AuditModule } from './audit/audit.module.js';
import { AuditStreamingModule } from './audit/audit-streaming.module.js';
import type { SinkStatus } from './audit/sinks/audit-streaming.js';
import { retentionSettings, sinkSettings } from './audit/sinks/sink-settings.js';
import { VARIABLES } from './config/environment.js';
import { License } from './config/license.js';
import type { LicenseFeature } from './config/license.js';
import { labelOf } from './config/load-config.js';
import { VERSION } from './platform/version.js';
import type { Coordination } from './platform/jobs/coordination.js';
import { CoordinationModule } from './platform/jobs/coordination.module.js';
import type { OpenDatabase } from './platform/database/data-source.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { poolState } from './platform/database/pool-state.js';
import type { ReadinessCheck } from './health/health.controller.js';
import { HealthModule } from './health/health.module.js';
import { HostModule } from './instance/ports/host.module.js';
import { InstanceLoginFailurePage } from './instance/ports/instance-login-failure-page.js';
import { InstanceTelemetry } from './instance/ports/instance-telemetry.js';
import { InstanceUsers } from './instance/ports/instance-users.js';
import type { GracefulShutdown } from './platform/http/graceful-shutdown.js';
import { ErrorFilter } from './platform/http/error.filter.js';
import { OutagesModule } from './platform/http/outages.module.js';
import { ThrottleModule } from './platform/http/throttle/throttle.module.js';
import { LoggingModule } from './platform/log/logging.module.js';
import { Metrics } from './metrics/metrics.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { AvailabilityReporter } from './instance/availability.reporter.js';
import { ClockModule } from './instance/clock.module.js';
import type { FrameAncestors } from './instance/frame-ancestors.js';
import { quotaLimits } from './instance/quota-limits.js';
import type { Startup } from './instance/startup.js';
import { metricsAddress, trustedKeysRules } from './instance/startup.js';
import {
  explanationRules,
  isTokenExchangeAvailable,
  tokenExchangeSettings,
} from './instance/token-exchange-settings.js';
import {
  AccessTokenService,
  ClockDifference,
  JwksKeyProvider,
  Revocations,
  SessionService,
  StoredEntryFollower,
} from './token-exchange/advanced.js';
import { TokenExchangeModule } from './token-exchange/index.js';
import type { BearerReason } from './token-exchange/plain.js';
import {
  EMBED_PATH,
  LOGOUT_PATH,
  REVOCATION_PATH,
  TOKEN_EXCHANGE_GRANT,
  TOKEN_PATH,
  loginMethods,
} from './token-exchange/plain.js';
import type { Clock } from './platform/clock.js';
import type { RefusedWork } from './platform/http/database-refusal.js';
import type { KeyRing } from './platform/secrets/key-ring.js';
import { UsersModule } from './users/users.module.js';
import { NotFoundPageFilter } from './web/not-found-page.filter.js';
import { WebModule } from './web/web.module.js';
import { ProjectsModule } from './workspace/projects/projects.module.js';
import { ReferenceModule } from './workspace/reference/reference.module.js';
import { SCOPES } from './workspace/rights/rights.js';
import type { InstanceWorker } from './workers/instance-worker.js';
import { WorkspaceModule } from './workspace/workspace.module.js';

/** What the application is put together from. */
export interface Parts {
  readonly startup: Startup;
  readonly database: OpenDatabase;
  /** Of the embedded database; undefined on PostgreSQL. */
  readonly dataDirectory?: string;
  readonly coordination: Coordination;
  readonly keyRing: KeyRing;
  readonly frameAncestors: FrameAncestors;
  readonly shutdown: GracefulShutdown;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folder of the compiled sources, beside which the page's files lie. */
  readonly sourceDirectory: string;
}

@Module({})
export class AppModule {
  static async register(parts: Parts): Promise<DynamicModule> {
    const { metrics } = parts;
    const availability = new AvailabilityReporter(parts.startup, parts.clock, parts.logger);
    watchLicense(parts, metrics);
    const modules = sharedModules(parts, metrics);
    const work = workspace(parts, modules, metrics);
    const administered = await administration(parts, modules, work);
    const flows = tokenExchange(parts, modules, availability);
    let sinks: SinksReading = () => [];
    const watchSinks = (read: SinksReading) => {
      sinks = read;
      metrics.watchSinks(read);
    };
    return {
      module: AppModule,
      imports: [
        modules.logging,
        modules.metrics,
        modules.database,
        modules.outages,
        auditStreaming(parts, modules, watchSinks),
        work,
        ...administered,
        ...(await operatorPage(parts, modules, {
          metrics,
          sinks: () => sinks(),
          needs: [...administered, ...flows.slice(0, -1)],
        })),
        ReferenceModule.register({
          publicDirectory: join(parts.sourceDirectory, 'workspace', 'reference', 'public'),
        }),
        modules.web,
        ...flows,
      ],
      // The last one that takes an error answers it.
      providers: [
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: APP_FILTER, useClass: NotFoundPageFilter },
        { provide: AvailabilityReporter, useFactory: () => availability },
      ],
    };
  }
}

/** Made before Nest, since the server counts as well. */
export function metricsOf(
  { dataSource }: OpenDatabase,
  { leader }: Coordination,
  worker?: InstanceWorker,
): Metrics {
  const metrics = new Metrics(worker && (() => worker.instanceMetrics()));
  worker?.offerMetrics(metrics.registry);
  metrics.watchLeader(() => leader.isLeader);
  metrics.watchDatabase(
    () => poolState(dataSource),
    () => dataSource.query('SELECT 1'),
  );
  return metrics;
}

type SharedModules = ReturnType<typeof sharedModules>;

/** What several modules import. Each is registered once: registered again, its providers would be there twice. */
function sharedModules({ startup, keyRing, clock: time, logger, ...parts }: Parts, counters: Metrics) {
  const { baseUrl, throttleStore: store } = startup.config;
  const { sessionLifetimeSeconds, partitionedCookie, maxSessionsPerUser } = startup.config;
  const onFailOpen = () => counters.throttleFailOpen.inc();
  const clock = ClockModule.register(time);
  const logging = LoggingModule.register(logger);
  const database = DatabaseModule.register(parts.database);
  const coordination = CoordinationModule.register(parts.coordination, parts.database, logger);
  const audit = AuditModule.register(keyRing, [logging, database]);
  const metrics = MetricsModule.register(counters, metricsAddress(startup.config));
  const watch = {
    onRefused: (flow: RefusedWork) => counters.databaseRefusals.inc({ flow }),
    onUnrecorded: () => counters.unrecordedEvents.inc(),
  };
  const outages = OutagesModule.register(watch, [logging, database]);
  const throttle = ThrottleModule.register({ store, onFailOpen }, [clock, logging, database, coordination]);
  const projects = ProjectsModule.register([database]);
  const users = UsersModule.register([database, projects]);
  const tokenEndpoint = () => tokenEndpointOf(startup, time);
  const onBearerRefused = (reason: BearerReason) => counters.apiRefusals.inc({ reason });
  const access = AccessModule.register(
    { baseUrl, scopes: SCOPES, tokenEndpoint, onBearerRefused },
    { sessionLifetimeSeconds, partitionedCookie, maxSessionsPerUser },
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

function workspace({ startup, clock: time, keyRing }: Parts, modules: SharedModules, counters: Metrics) {
  const { clock, database, audit, outages, throttle, projects, users, access } = modules;
  return WorkspaceModule.register(
    {
      isLicensed: (feature: LicenseFeature) => startup.license.includes(feature, time.nowMs()),
      callsPerMinute: startup.config.apiCallsPerMinute,
      limits: quotaLimits(startup.config),
      onThrottled: () => counters.throttled.inc({ flow: 'api' }),
    },
    keyRing,
    [clock, database, audit, outages, throttle, projects, users, access],
  );
}

function auditStreaming(
  { startup: { config } }: Parts,
  { clock, logging, database, coordination }: SharedModules,
  watch: (read: SinksReading) => void,
): DynamicModule {
  return AuditStreamingModule.register(
    {
      sinks: sinkSettings(config),
      retention: retentionSettings(config),
      hostname: new URL(config.baseUrl).hostname,
      watch,
    },
    [clock, logging, database, coordination],
  );
}

/**
 * On PostgreSQL commands have the database for themselves: there only the operator's page asks the service. What is not asked
 * is not loaded, here and below.
 */
async function administration(
  { startup, dataDirectory, clock: time }: Parts,
  { clock, logging, database, audit, access, users, projects }: SharedModules,
  work: DynamicModule,
): Promise<DynamicModule[]> {
  if (dataDirectory === undefined && !startup.config.adminEnabled) return [];
  const { AdministrationModule } = await import('./administration/administration.module.js');
  const { explainerOf } = await import('./instance/ports/instance-explainer.js');
  const trust = { configured: startup.trustedKeys, rules: trustedKeysRules(startup.config) };
  const configuredIn = labelOf(VARIABLES.trustedKeys, startup.given);
  const rules = explanationRules(startup, time);
  const explain = explainerOf(() => Promise.resolve(rules));
  const needs = [clock, logging, database, audit, access, users, projects, work];
  const module = AdministrationModule.register({ trust, configuredIn, explain }, needs);
  return dataDirectory === undefined
    ? [module]
    : [module, await commandSocket(dataDirectory, [logging, module])];
}

async function commandSocket(dataDirectory: string, needs: readonly DynamicModule[]): Promise<DynamicModule> {
  const { CommandSocketModule } = await import('./administration/socket/command-socket.module.js');
  const { commandSocketPath } = await import('./administration/socket/command-socket.js');
  return CommandSocketModule.register({ path: commandSocketPath(dataDirectory), version: VERSION }, [
    ...needs,
  ]);
}

/** How the streams to all sinks go. */
type SinksReading = () => readonly SinkStatus[];

/** @param needs administration, and token exchange where it is there */
async function operatorPage(
  { startup, database: { kind: databaseKind }, coordination: { leader }, ...parts }: Parts,
  modules: SharedModules,
  { metrics, sinks, needs }: { metrics: Metrics; sinks: SinksReading; needs: readonly DynamicModule[] },
): Promise<DynamicModule[]> {
  const { adminEnabled, baseUrl } = startup.config;
  if (!adminEnabled) return [];
  const { OperatorModule } = await import('./operator/operator.module.js');
  const { OperatorPageModule } = await import('./operator/page/operator-page.module.js');
  const { clock, logging, database, coordination, audit, throttle, access, users } = modules;
  const options = {
    baseUrl,
    onHash: () => metrics.operatorPasswordHashes.inc(),
    onThrottled: () => metrics.throttled.inc({ flow: 'operator' }),
  };
  const state = { startup, leader, databaseKind, frameAncestors: () => parts.frameAncestors.current, sinks };
  const imports = [clock, logging, database, coordination, audit, throttle, access, users, ...needs];
  const pages = {
    publicDirectory: join(parts.sourceDirectory, 'operator', 'page', 'public'),
    sharedDirectory: join(parts.sourceDirectory, 'web', 'public'),
  };
  return [OperatorModule.register(options, state, imports), OperatorPageModule.register(pages)];
}

/** An end that is no date is none that could be counted to. */
function watchLicense({ startup: { license }, clock }: Parts, metrics: Metrics): void {
  const endsAtMs = license.expiresAt.getTime();
  if (license === License.NONE || Number.isNaN(endsAtMs)) return;
  metrics.watchLicense(() => (endsAtMs - clock.nowMs()) / 1000);
}

const FLOW_PATHS = [TOKEN_PATH, EMBED_PATH, REVOCATION_PATH, LOGOUT_PATH];

/** A route by its pattern and method. */
interface Route {
  readonly path: string;
  readonly method: string;
}

/** Whether a route is not there at this moment: its path answers 404, or this method of it 405. */
export function isAbsent({ path, method }: Route, startup: Startup, clock: Clock): boolean {
  if (path === EMBED_PATH && !loginMethods(startup.config).includes(method)) return true;
  if (FLOW_PATHS.includes(path)) return !isTokenExchangeAvailable(startup, clock);
  return SERVER_METADATA_PATHS.includes(path) && tokenEndpointOf(startup, clock) === undefined;
}

/** Undefined where it is absent or switched off: what answers 404 or 501 is not announced. */
function tokenEndpointOf(startup: Startup, clock: Clock): TokenEndpoint | undefined {
  const isOffered = startup.config.exchangeEnabled && isTokenExchangeAvailable(startup, clock);
  return isOffered
    ? { path: TOKEN_PATH, grantType: TOKEN_EXCHANGE_GRANT, revocationPath: REVOCATION_PATH }
    : undefined;
}

/** With the module its keys belong to readiness, without it the database alone. */
function tokenExchange(
  { startup, clock: time, logger, coordination, shutdown }: Parts,
  modules: SharedModules,
  availability: AvailabilityReporter,
): DynamicModule[] {
  const features = () => ({ tokenExchange: availability.state });
  const { database, audit, metrics, outages, throttle, users, access, web } = modules;
  if (!isTokenExchangeAvailable(startup, time)) {
    const useFactory = (dataSource: DataSource, revocations: Revocations) => [
      databaseCheck(dataSource),
      revocationsCheck(revocations),
    ];
    const inject = [DataSource, Revocations];
    const imports = [database, access];
    return [HealthModule.registerAsync({ shutdown, imports, inject, useFactory, features })];
  }
  const module = TokenExchangeModule.register(tokenExchangeSettings(startup, time), {
    imports: [
      database,
      audit,
      access,
      throttle,
      outages,
      HostModule.register([database, users, metrics, web]),
    ],
    users: { useExisting: InstanceUsers },
    sessions: { useExisting: SessionService },
    accessTokens: { useExisting: AccessTokenService },
    revocations: 'imported',
    auditTrail: { useExisting: AuditTrailRepository },
    telemetry: { useExisting: InstanceTelemetry },
    outages: 'imported',
    loginFailurePage: { useExisting: InstanceLoginFailurePage },
    throttlerStorage: { useExisting: getStorageToken() },
    clock: { useValue: time },
    log: { useValue: logger },
    leader: { useValue: coordination.leader },
    notifications: { useValue: coordination.notifications },
  });
  const useFactory = (
    dataSource: DataSource,
    revocations: Revocations,
    clocks: ClockDifference,
    keys: JwksKeyProvider,
    stored: StoredEntryFollower,
  ) => [
    databaseCheck(dataSource),
    revocationsCheck(revocations),
    clockCheck(clocks),
    keySetCheck(keys),
    storedEntriesCheck(stored),
  ];
  const inject = [DataSource, Revocations, ClockDifference, JwksKeyProvider, StoredEntryFollower];
  const imports = [database, access, module];
  return [module, HealthModule.registerAsync({ shutdown, imports, inject, useFactory, features })];
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

/** Without news of them every credential gets a 503 (D60): requests are better off elsewhere. */
function revocationsCheck(revocations: Revocations): ReadinessCheck {
  return { name: 'revocations', isReady: () => Promise.resolve(revocations.isKnown) };
}

/** While clocks differ too much both flows answer 503 (D97). */
function clockCheck(clocks: ClockDifference): ReadinessCheck {
  return { name: 'its clock', isReady: () => Promise.resolve(clocks.isSmall) };
}

/**
 * One dead endpoint must not take every instance out of service: a finished attempt is enough.
 * @rule D48 Ready once the database answers and each configured JWKS entry has keys or one finished attempt.
 */
function keySetCheck(keys: JwksKeyProvider): ReadinessCheck {
  const isReady = () =>
    Promise.resolve(keys.configuredStatus().every((status) => status.hasSnapshotOrAttempt));
  return { name: 'key sets', isReady };
}

/**
 * An entry that is added while instances run must not take all of them out of service until its keys are fetched: it is
 * enough to know which entries there are (D74).
 */
function storedEntriesCheck(stored: StoredEntryFollower): ReadinessCheck {
  return { name: 'stored entries', isReady: () => Promise.resolve(stored.isKnown) };
}
