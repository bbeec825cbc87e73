// Makes the whole application from what the start has checked: main and the end-to-end tests call the same function.
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppModule, metricsOf } from './app.module.js';
import { isAbsent } from './composition/routes.js';
import { VARIABLES } from './config/environment.js';
import type { Config } from './config/load-config.js';
import { joinInstances } from './platform/jobs/coordination.module.js';
import type { DatabaseSettings, OpenDatabase } from './platform/database/data-source.js';
import { openDatabase } from './platform/database/data-source.js';
import { ConcurrencyLimit } from './platform/http/concurrency-limit.js';
import { ConnectionLimit } from './platform/http/connection-limit.js';
import { GracefulShutdown } from './platform/http/graceful-shutdown.js';
import { prepareFiles } from './platform/http/page.controller.js';
import { ListenError, SERVICE_ADDRESS } from './platform/http/listen-error.js';
import { addSecurityHeaders } from './platform/http/security-headers.js';
import { createServer } from './platform/http/server.js';
import { NestLogger } from './platform/log/logger.js';
import { UnfinishedRequests } from './platform/http/unfinished-requests.js';
import { RequestTraces } from './platform/log/tracing.js';
import type { Metrics } from './metrics/metrics.js';
import { MetricsListener } from './metrics/metrics.listener.js';
import { SCHEMA } from './instance/schema.js';
import { FrameAncestors } from './instance/frame-ancestors.js';
import { PresentEntries } from './instance/present-entries.js';
import type { Startup } from './instance/startup.js';
import { databaseSettings, encryptionKeys } from './instance/startup.js';
import { isTokenExchangeOffered } from './instance/token-exchange-settings.js';
import { StoredEntryFollower } from './token-exchange/instance.js';
import {
  EMBED_PATH,
  LOGOUT_DESCRIPTION,
  TOKEN_EXCHANGE_DESCRIPTION,
  TOKEN_PATH,
  TOKEN_INTROSPECTION_DESCRIPTION,
  TOKEN_REVOCATION_DESCRIPTION,
  embedLoginDescription,
} from './token-exchange/plain.js';
import { Clock } from './platform/clock.js';
import { KeyRing } from './platform/secrets/key-ring.js';
import { ApiDescription } from './workspace/reference/api-description.js';

/** A running or runnable application. */
export interface Application {
  readonly nest: NestFastifyApplication;
  readonly database: OpenDatabase;
  readonly metrics: Metrics;
  /** Where metrics are served, if they are. */
  readonly metricsAddress: string | undefined;
  /** Begins to listen; resolves with the address, such as `http://127.0.0.1:5678`. */
  listen(): Promise<string>;
  /** Asks for no more traffic: it is not ready any more, and answers end their connections. */
  announceStop(): void;
  /** Answers what is in flight, for three and a half seconds at most, then closes everything. */
  close(): Promise<void>;
}

/** What a caller may bring along. */
export interface ApplicationParts {
  readonly logger: Logger;
  readonly sourceDirectory: string;
  readonly clock?: Clock;
  /** Another database than the configured one: tests open theirs from a prepared copy. */
  readonly database?: DatabaseSettings;
  /** The built file that runs the embedded engine in a thread of its own. */
  readonly engineThread?: string;
}

/**
 * Opens the database, brings its schema up to date and puts the application together.
 * @throws DataDirectoryLockedError when another process has the embedded data directory
 */
export async function createApplication(startup: Startup, parts: ApplicationParts): Promise<Application> {
  const { sourceDirectory, engineThread, clock = new Clock() } = parts;
  const traces = new RequestTraces();
  const logger = traces.loggerOn(parts.logger);
  const { config } = startup;
  const settings = parts.database ?? databaseSettings(config);
  const requestWaitMs = config.databaseWaitMs;
  const database = await openDatabase({ ...settings, requestWaitMs, engineThread }, SCHEMA);
  const coordination = await joinInstances(settings, logger);
  const closeRest = () => coordination.leader.stop().finally(() => database.close());
  try {
    const keyRing = new KeyRing(encryptionKeys(config), VARIABLES.encryptionKeys.name);
    const entries = new PresentEntries(startup.trustedKeys);
    const frameAncestors = new FrameAncestors(config, entries);
    const shutdown = new GracefulShutdown();
    const metrics = metricsOf(database, coordination);
    const serverLimits = serverLimitsOf(config, logger, metrics);
    const root = AppModule.register({
      startup,
      database,
      dataDirectory: settings.kind === 'embedded' ? settings.directory : undefined,
      coordination,
      keyRing,
      entries,
      frameAncestors,
      shutdown,
      metrics,
      clock,
      logger,
      sourceDirectory,
    });
    const nest = await createNest(root, startup, {
      logger,
      traces,
      clock,
      entries,
      frameAncestors,
      shutdown,
      sourceDirectory,
      ...serverLimits,
    });
    return {
      nest,
      database,
      metrics,
      metricsAddress: metricsAddress(nest, startup),
      listen: () => listen(nest, startup),
      announceStop: () => shutdown.begin(),
      // First the requests, then what they need.
      close: () =>
        shutdown
          .finish()
          .finally(() => nest.close())
          .finally(closeRest),
    };
  } catch (error) {
    await closeRest();
    throw error;
  }
}

interface NestParts {
  readonly logger: Logger;
  readonly traces: RequestTraces;
  readonly clock: Clock;
  readonly entries: PresentEntries;
  readonly frameAncestors: FrameAncestors;
  readonly shutdown: GracefulShutdown;
  readonly sourceDirectory: string;
  readonly connections: ConnectionLimit;
  readonly concurrency: ConcurrencyLimit;
  readonly unfinished: UnfinishedRequests;
}

/** What keeps more from coming in than the process can take. */
function serverLimitsOf(
  { maxConnections, maxRequestsInProgress, databaseWaitMs }: Config,
  logger: Logger,
  metrics: Metrics,
) {
  const onRefused = () => metrics.connectionsRefused.inc();
  const onShed = () => metrics.requestsShed.inc();
  const concurrency = new ConcurrencyLimit(maxRequestsInProgress, databaseWaitMs, logger, onShed);
  metrics.watchRequests(() => concurrency.count);
  return {
    concurrency,
    connections: new ConnectionLimit(maxConnections, logger, onRefused),
    unfinished: new UnfinishedRequests(logger, onRefused),
  };
}

async function createNest(
  root: DynamicModule,
  startup: Startup,
  {
    logger,
    traces,
    clock,
    entries,
    frameAncestors,
    shutdown,
    sourceDirectory,
    connections,
    concurrency,
    unfinished,
  }: NestParts,
) {
  const { config, tls } = startup;
  const server = createServer({
    proxyHops: config.proxyHops,
    logger,
    traces,
    shutdown,
    tls,
    keepAliveSeconds: config.keepAliveSeconds,
    connections,
    concurrency,
    unfinished,
    isAbsent: (path, method) => isAbsent({ path, method }, { startup, clock, entries }),
    recordedRoutes: new Set([TOKEN_PATH, EMBED_PATH]),
  });
  const nest = await NestFactory.create<NestFastifyApplication>(root, server, {
    logger: new NestLogger(logger),
    abortOnError: false,
    // The adapter serves it already; by this Nest knows, and names the address rightly.
    httpsOptions: tls,
  });
  const isOffered = isTokenExchangeOffered(startup, clock);
  if (isOffered) followStoredEntries(nest, entries);
  addSecurityHeaders(nest, () => frameAncestors.current);
  prepareFiles(nest, sourceDirectory);
  await nest.init();
  const waysIn = isOffered ? flowDescriptions(config) : undefined;
  nest
    .get(ApiDescription, { strict: false })
    .describe({ application: nest, baseUrl: config.baseUrl, waysIn });
  return nest;
}

function flowDescriptions(config: Config) {
  return {
    ...TOKEN_EXCHANGE_DESCRIPTION,
    ...TOKEN_REVOCATION_DESCRIPTION,
    ...TOKEN_INTROSPECTION_DESCRIPTION,
    ...LOGOUT_DESCRIPTION,
    ...embedLoginDescription(config),
  };
}

function followStoredEntries(nest: NestFastifyApplication, entries: PresentEntries): void {
  const stored = nest.get(StoredEntryFollower, { strict: false });
  entries.follow(() => stored.entries);
}

function metricsAddress(nest: NestFastifyApplication, { config }: Startup): string | undefined {
  return config.metricsPort === 0 ? undefined : nest.get(MetricsListener, { strict: false }).address;
}

/**
 * How many connections may wait to be taken. Those beyond are tried again by their clients' systems after one second, then three: with
 * the 511 of Node.js a rush of clients was answered that late, though the service was not. The system may allow fewer.
 */
const MOST_UNTAKEN_CONNECTIONS = 4_096;

/** @throws ListenError */
async function listen(nest: NestFastifyApplication, { config }: Startup): Promise<string> {
  const { host, port } = config;
  try {
    await nest.listen({ port, host, backlog: MOST_UNTAKEN_CONNECTIONS });
  } catch (cause) {
    throw new ListenError(cause, { host, port }, SERVICE_ADDRESS);
  }
  return nest.getUrl();
}
