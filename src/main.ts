#!/usr/bin/env node
// Starts the service: command line, configuration, licence, application, listening, and a graceful stop.
import 'reflect-metadata';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Application } from './application.js';
import { createApplication } from './application.js';
import type { Startup } from './config/startup.js';
import { readCommandLine } from './instance/command-line.js';
import { prepareStartup } from './instance/prepare-startup.js';
import { isTokenExchangeOffered } from './instance/token-exchange-settings.js';
import { MetricsListener } from './metrics/metrics.listener.js';
import { Clock } from './platform/clock.js';
import type { OpenDatabase } from './platform/database/data-source.js';
import { OPEN_DATABASE } from './platform/database/data-source.js';
import { hasDatabase, isCopied } from './platform/database/embedded/data-directory.js';
import type { LineOutput } from './platform/log/logger.js';
import { createLogger, exitAfterLog, StandardOutput } from './platform/log/logger.js';
import { SealError } from './platform/secrets/key-ring.js';
import { StartError } from './platform/start-error.js';
import { VERSION } from './platform/version.js';
import { OWNER_ROLE } from './users/role.js';
import { UserRepository } from './users/user.repository.js';

const EXIT_FAILED = 1;
/** Without the delay that is configured; then the process ends all the same. Connections are cut before that. */
const LONGEST_STOP_MS = 5_000;
/** For the answers to the last requests to the embedded database. */
const LAST_ANSWERS_MS = 250;

async function main(): Promise<void> {
  const { envFile, answer } = readCommandLine(process.argv.slice(2));
  if (answer !== undefined) {
    process.stdout.write(answer);
    return;
  }
  const startup = await prepareStartup({
    environment: process.env,
    workingDirectory: process.cwd(),
    envFile,
  });
  const output = new StandardOutput();
  const logger = createLogger(startup.config.logLevel, output);
  for (const warning of startup.warnings) logger.warn(warning);
  logger.info(await serve(startup, logger, output), 'the service is ready');
}

/** @returns what an operator wants to see of it */
async function serve(startup: Startup, logger: Logger, output: LineOutput): Promise<object> {
  const sourceDirectory = dirname(fileURLToPath(import.meta.url));
  const engineThread = join(sourceDirectory, 'platform', 'database', 'embedded', 'engine.worker.js');
  const application = await createApplication(startup, { logger, output, sourceDirectory, engineThread });
  tellOfData(startup, application, logger);
  await tellOfNamedUsers(startup, application, logger);
  stopOnSignals(application, startup.config.shutdownDelaySeconds * 1000, logger);
  endWithDatabase(application, logger);
  const address = await application.listen();
  return { address, baseUrl: startup.config.baseUrl, ...summary(startup, application) };
}

/** On an empty database used tokens would pass again, so nobody should come to one without noticing. */
function tellOfData({ config }: Startup, { nest }: Application, logger: Logger): void {
  const { kind, appliedMigrations, dataSource } = nest.get<OpenDatabase>(OPEN_DATABASE);
  const isNew = appliedMigrations.length === dataSource.migrations.length;
  const state = isNew ? 'was created just now and is empty' : 'was there';
  const folder = resolve(config.dataDirectory);
  logger.info(
    `the data is in ${kind === 'embedded' ? `the folder ${folder}` : 'PostgreSQL'}, which ${state}`,
  );
  if (kind === 'postgresql' && hasDatabase(folder) && !isCopied(folder))
    logger.warn(
      `the embedded database in ${folder} is not used, because SVC_DATABASE_URL is set: ` +
        'svc-admin data copy copies it into an empty PostgreSQL database; otherwise remove the folder',
    );
}

/** The configuration is read before the database is open, so that nobody has looked for the users whom it names. */
async function tellOfNamedUsers({ trustedKeys }: Startup, { nest }: Application, logger: Logger) {
  const users = nest.get(UserRepository, { strict: false });
  for (const { label: entry, signInAs } of trustedKeys) {
    if (signInAs === undefined) continue;
    const user = await users.findById(signInAs);
    if (user !== undefined && user.enabled && user.role !== OWNER_ROLE) continue;
    const fault = user === undefined ? 'does not exist' : user.enabled ? 'is the owner' : 'is disabled';
    logger.warn({ entry }, `the user in signInAs of an entry ${fault}: its tokens are refused`);
  }
}

/** What an operator wants to see at the start: the version, the database, the flows, the keys. */
function summary(startup: Startup, { nest }: Application) {
  const { config, trustedKeys, license } = startup;
  const isOffered = isTokenExchangeOffered(startup, new Clock());
  return {
    version: VERSION,
    metricsAddress: nest.get<MetricsListener | undefined>(MetricsListener, { strict: false })?.address,
    database: config.databaseUrl === undefined ? `embedded (${config.dataDirectory})` : 'postgresql',
    tokenExchangeModule: isOffered,
    flows: {
      embedLogin: isOffered && config.embedLoginEnabled,
      tokenExchange: isOffered && config.exchangeEnabled,
      idAssertion: isOffered && config.idAssertionEnabled,
    },
    license:
      license.features.size === 0 ? 'none' : { until: license.expiresAt, features: [...license.features] },
    trustedKeys: {
      static: trustedKeys.filter(({ type }) => type === 'static').length,
      keySets: trustedKeys.filter(({ type }) => type === 'jwks').length,
      issuers: [...new Set(trustedKeys.map(({ issuer }) => issuer))],
    },
  };
}

/**
 * @rule D93 A stop is announced at once, waits for the configured delay, and takes at most five seconds after it. See
 * http/connections.ts for what becomes of connections.
 */
function stopOnSignals(application: Application, delayMs: number, logger: Logger): void {
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) return endAtOnce(signal, logger);
      isStopping = true;
      logger.info(
        { signal, delaySeconds: delayMs / 1000 },
        'stopping: requests in flight are still answered; a second signal ends the process at once',
      );
      application.announceStop();
      setTimeout(() => void stop(application, logger), delayMs);
    });
  }
}

async function stop(application: Application, logger: Logger): Promise<void> {
  setTimeout(() => {
    logger.warn('the stop took too long: open requests are aborted');
    exitAfterLog(EXIT_FAILED, logger);
  }, LONGEST_STOP_MS).unref();
  try {
    await application.close();
    exitAfterLog(0, logger);
  } catch (error) {
    logger.error({ err: error }, 'the stop failed');
    exitAfterLog(EXIT_FAILED, logger);
  }
}

/**
 * Ends the process if the embedded database stops by itself (D98). Requests in progress are answered first, and the next start
 * recovers.
 */
function endWithDatabase({ nest }: Application, logger: Logger): void {
  void nest.get<OpenDatabase>(OPEN_DATABASE).stopped.then((error) => {
    const { code } = error as { code?: string };
    logger.fatal(
      { code, reason: error.message },
      'the embedded database has stopped, so the process ends: fix the cause, usually the disk, and restart; committed data are kept',
    );
    setTimeout(() => exitAfterLog(EXIT_FAILED, logger), LAST_ANSWERS_MS);
  });
}

function endAtOnce(signal: string, logger: Logger): void {
  logger.warn({ signal }, 'ended at once by a second signal');
  exitAfterLog(EXIT_FAILED, logger);
}

/** The stack of a `StartError`, which an operator can correct, is its message. */
function failureText(error: unknown): string {
  if (error instanceof SealError)
    return `${error.message}: put the key that sealed this database behind the first one; if it is lost, see docs/operator/incidents.md#a-sealing-key-that-is-lost-for-good`;
  return (error as Error).stack ?? String(error);
}

main().catch((error: unknown) => {
  process.stderr.write(`${failureText(error)}\n`);
  process.exit(error instanceof StartError ? error.exitCode : EXIT_FAILED);
});
