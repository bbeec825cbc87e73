// Makes the whole application from what the start has checked: main and the end-to-end tests call the same function.
import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import type { CoreParts } from './core.module.js';
import { VARIABLES } from './config/environment.js';
import type { Startup } from './config/startup.js';
import type { DatabaseSettings, OpenDatabase } from './platform/database/data-source.js';
import { openDatabase } from './platform/database/data-source.js';
import { ConcurrencyLimit } from './platform/http/concurrency-limit.js';
import { UnfinishedRequests, limitConnections } from './platform/http/connection-limits.js';
import { GracefulShutdown } from './platform/http/graceful-shutdown.js';
import { prepareFiles } from './platform/http/page.controller.js';
import { ListenError, SERVICE_ADDRESS } from './platform/http/listen-error.js';
import { addSecurityHeaders } from './platform/http/security-headers.js';
import { createServer } from './platform/http/server.js';
import { nestLogger } from './platform/log/logger.js';
import { RequestTraces } from './platform/log/tracing.js';
import { Metrics } from './metrics/metrics.js';
import { MetricsListener } from './metrics/metrics.listener.js';
import { SCHEMA } from './instance/schema.js';
import { FrameAncestors } from './instance/frame-ancestors.js';
import { PresentEntries } from './instance/present-entries.js';
import { isAbsent } from './instance/routes.js';
import { databaseSettings as settingsOf, encryptionKeys } from './instance/startup.js';
import { isTokenExchangeOffered } from './instance/token-exchange-settings.js';
import { EMBED_PATH, TOKEN_PATH, endpointDescriptions } from './token-exchange/instance.js';
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
  const traces = new RequestTraces();
  const logger = traces.loggerOn(parts.logger);
  const { config, tls } = startup;
  const { engineThread } = parts;
  const databaseSettings = parts.database ?? settingsOf(config);
  const requestWaitMs = config.databaseWaitMs;
  const database = await openDatabase({ ...databaseSettings, requestWaitMs, engineThread }, SCHEMA);
  let begun: NestFastifyApplication | undefined;
  try {
    const core: CoreParts = {
      ...{ startup, databaseSettings, database, logger },
      keyRing: new KeyRing(encryptionKeys(config), VARIABLES.encryptionKeys.name),
      entries: new PresentEntries(startup.trustedKeys),
      metrics: new Metrics(),
      shutdown: new GracefulShutdown(),
      clock: parts.clock ?? new Clock(),
      sourceDirectory: parts.sourceDirectory,
    };
    const nest = (begun = await NestFactory.create<NestFastifyApplication>(
      AppModule.register(core),
      serverOf(core, traces),
      // The adapter serves it already; by `httpsOptions` Nest knows, and names the address rightly.
      { logger: nestLogger(logger), abortOnError: false, httpsOptions: tls },
    ));
    await prepare(nest, core);
    return {
      nest,
      database,
      metrics: core.metrics,
      metricsAddress: nest.get<MetricsListener | undefined>(MetricsListener, { strict: false })?.address,
      listen: () => listen(nest, startup),
      announceStop: () => core.shutdown.begin(),
      // First the requests, then what they need.
      close: () =>
        core.shutdown
          .finish()
          .finally(() => nest.close())
          .finally(() => database.close()),
    };
  } catch (error) {
    await begun?.close().catch(() => undefined);
    await database.close();
    throw error;
  }
}

function serverOf(core: CoreParts, traces: RequestTraces): FastifyAdapter {
  const { startup, metrics, logger } = core;
  const { proxyHops, keepAliveSeconds, maxConnections, maxRequestsInProgress, databaseWaitMs } =
    startup.config;
  // What keeps more from coming in than the process can take.
  const onRefused = () => metrics.connectionsRefused.inc();
  const onShed = () => metrics.requestsShed.inc();
  const concurrency = new ConcurrencyLimit(maxRequestsInProgress, databaseWaitMs, logger, onShed);
  metrics.watchRequests(() => concurrency.count);
  const adapter = createServer({
    proxyHops,
    logger,
    traces,
    shutdown: core.shutdown,
    tls: startup.tls,
    keepAliveSeconds,
    concurrency,
    unfinished: new UnfinishedRequests(logger, onRefused),
    isAbsent: (path, method) => isAbsent({ path, method }, core),
    recordedRoutes: new Set([TOKEN_PATH, EMBED_PATH]),
  });
  limitConnections(adapter.getHttpServer<Server>(), maxConnections, logger, onRefused);
  return adapter;
}

/** Ready to listen. */
async function prepare(nest: NestFastifyApplication, core: CoreParts): Promise<void> {
  const { startup, clock, sourceDirectory } = core;
  const { config } = startup;
  const frameAncestors = nest.get(FrameAncestors, { strict: false });
  addSecurityHeaders(nest, () => frameAncestors.current);
  prepareFiles(nest, sourceDirectory);
  await nest.init();
  const waysIn = isTokenExchangeOffered(startup, clock) ? endpointDescriptions(config) : undefined;
  nest
    .get(ApiDescription, { strict: false })
    .describe({ application: nest, baseUrl: config.baseUrl, waysIn });
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
