// Makes the whole application from what the start has checked: main and the end-to-end tests call the same function.
import { NestFactory } from '@nestjs/core';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import type { Startup } from './config/startup.js';
import { FrameAncestors, PresentEntries } from './instance/frame-ancestors.js';
import { databaseSettings } from './instance/prepare-startup.js';
import { isAbsent } from './instance/routes.js';
import { isTokenExchangeOffered } from './instance/token-exchange-settings.js';
import { Metrics } from './metrics/metrics.js';
import { Clock } from './platform/clock.js';
import type { DatabaseSettings } from './platform/database/data-source.js';
import { ConcurrencyLimit } from './platform/http/concurrency-limit.js';
import { GracefulShutdown, limitConnections, UnfinishedRequests } from './platform/http/connections.js';
import { listenError, SERVICE_ADDRESS } from './platform/http/listen-error.js';
import { prepareFiles, SOURCE_DIRECTORY } from './platform/http/page.controller.js';
import { addSecurityHeaders } from './platform/http/security-headers.js';
import { createAdapter, prepareServer } from './platform/http/server.js';
import { LOGGER } from './platform/log/log.js';
import type { LineOutput } from './platform/log/logger.js';
import { nestLogger, RequestTraces } from './platform/log/logger.js';
import { EMBED_PATH, endpointDescriptions, TOKEN_PATH } from './token-exchange/instance.js';
import { ApiDescription } from './workspace/reference/api-description.js';

/** A running or runnable application. */
export interface Application {
  readonly nest: NestFastifyApplication;
  /** Begins to listen; resolves with the address, such as `http://127.0.0.1:5678`. */
  listen(): Promise<string>;
  /** Asks for no more traffic: it is not ready any more, and answers end their connections. */
  announceStop(): void;
  /** Answers what is in flight, for three and a half seconds at most, then closes everything. */
  close(): Promise<void>;
}

/** What a caller brings along, and what a test replaces. */
export interface ApplicationSettings {
  readonly logger: Logger;
  /** Where `logger` writes. */
  readonly output: LineOutput;
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
export async function createApplication(
  startup: Startup,
  { logger, output, sourceDirectory, engineThread, ...replaced }: ApplicationSettings,
): Promise<Application> {
  const { config, tls } = startup;
  const clock = replaced.clock ?? new Clock();
  const requestWaitMs = config.databaseWaitMs;
  const database = { ...(replaced.database ?? databaseSettings(config)), requestWaitMs, engineThread };
  const adapter = createAdapter({ ...config, logger, tls });
  const nest = await NestFactory.create<NestFastifyApplication>(
    AppModule.register({ startup, logger, output, sourceDirectory, database, clock }),
    adapter,
    // The adapter reads bodies by itself. It also serves HTTPS already; by `httpsOptions` Nest knows, and names the address rightly.
    { logger: nestLogger(logger), abortOnError: false, httpsOptions: tls, bodyParser: false },
  );
  try {
    prepareHooks(adapter, nest, startup, clock);
    await prepare(nest, startup, clock);
  } catch (error) {
    await nest.close();
    throw error;
  }
  const shutdown = nest.get(GracefulShutdown);
  return {
    nest,
    listen: () => listen(nest, startup),
    announceStop: () => shutdown.begin(),
    // First the requests, then what they need.
    close: () => shutdown.finish().finally(() => nest.close()),
  };
}

/** What limits, reads, logs and answers requests before any route. */
function prepareHooks(
  adapter: FastifyAdapter,
  nest: NestFastifyApplication,
  startup: Startup,
  clock: Clock,
): void {
  const logger = nest.get<Logger>(LOGGER);
  const metrics = nest.get(Metrics);
  const entries = nest.get<PresentEntries>(PresentEntries);
  const frameAncestors = nest.get(FrameAncestors);
  const onRefused = () => metrics.connectionsRefused.inc();
  limitConnections(nest.getHttpServer(), logger, onRefused);
  prepareServer(adapter, {
    logger,
    traces: nest.get(RequestTraces),
    shutdown: nest.get(GracefulShutdown),
    concurrency: nest.get(ConcurrencyLimit),
    unfinished: new UnfinishedRequests(logger, onRefused),
    isAbsent: (path, method) => isAbsent({ path, method }, { startup, clock, entries }),
    recordedRoutes: new Set([TOKEN_PATH, EMBED_PATH]),
  });
  const frame = addSecurityHeaders(nest, frameAncestors.current);
  entries.onChange(() => frame(frameAncestors.current));
  prepareFiles(nest, nest.get<string>(SOURCE_DIRECTORY));
}

/** Ready to listen. */
async function prepare(nest: NestFastifyApplication, startup: Startup, clock: Clock): Promise<void> {
  const { baseUrl } = startup.config;
  await nest.init();
  const tokenPaths = isTokenExchangeOffered(startup, clock)
    ? endpointDescriptions({ ...startup.config, hasBoundSessions: true })
    : undefined;
  nest.get(ApiDescription, { strict: false }).describe({ application: nest, baseUrl, tokenPaths });
}

/**
 * How many connections may wait to be taken. Those beyond are tried again by their clients' systems after one second, then three: with
 * the 511 of Node.js a rush of clients was answered that late, though the service was not. The system may allow fewer.
 */
const MAX_UNTAKEN_CONNECTIONS = 4_096;

/** @throws StartError */
async function listen(nest: NestFastifyApplication, { config }: Startup): Promise<string> {
  const { host, port } = config;
  try {
    await nest.listen({ port, host, backlog: MAX_UNTAKEN_CONNECTIONS });
  } catch (cause) {
    throw listenError(cause, { host, port }, SERVICE_ADDRESS);
  }
  return nest.getUrl();
}
