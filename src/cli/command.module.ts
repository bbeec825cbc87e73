// Opens the instance's database for a command, alone or with the modules of its operations. They have no leader, followers, listeners or jobs.
import { existsSync } from 'node:fs';
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { DataSource } from 'typeorm';
import { ADMINISTRATION_PROVIDERS, USER_PORTS } from '../administration/administration.module.js';
import { AdministrationSettings, CommandError } from '../administration/operation.js';
import { AuditTrailRepository } from '../audit/audit-trail.repository.js';
import { PersonHashes } from '../audit/person-hashes.js';
import { VARIABLES } from '../config/environment.js';
import { NEW_ENCRYPTION_KEY } from '../config/variable-formats.js';
import {
  checkStartup,
  databaseSettings,
  encryptionKeyPath,
  encryptionKeys,
  trustedKeysRules,
} from '../instance/prepare-startup.js';
import { SCHEMA } from '../instance/schema.js';
import { explanationRules } from '../instance/token-exchange-settings.js';
import { Clock } from '../platform/clock.js';
import type { DatabaseSettings, OpenDatabase, Schema } from '../platform/database/data-source.js';
import { openDatabase } from '../platform/database/data-source.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { DatabaseClock } from '../platform/database/database-clock.js';
import { DataDirectoryLockedError } from '../platform/database/embedded/data-directory.lock.js';
import { LOGGER, SILENT } from '../platform/log/log.js';
import { KeyRing } from '../platform/secrets/key-ring.js';
import { StartError } from '../platform/start-error.js';
import type {
  ExplanationRules,
  StoredEntriesRules,
  Transmitter,
  TrustedKeysRules,
} from '../token-exchange/instance.js';
import { AuditBus, AuditTrail, readTrustedKeys } from '../token-exchange/instance.js';
import { USER_PROVIDERS } from '../users/users.module.js';
import type { CommandContext } from './command-context.js';
import { reasonOf } from './command-context.js';

/**
 * Runs `work` on a database after migrating its schema. It is for work that the running service
 * cannot do for a command. See command.ts for everything else.
 * @param settings default: the configured database
 * @throws DataDirectoryLockedError if another process has the embedded directory (D46)
 * @throws CommandError if the database cannot be opened
 */
export async function withDatabase<T>(
  context: CommandContext,
  work: (database: OpenDatabase) => Promise<T>,
  settings = instanceDatabase(context),
): Promise<T> {
  const database = await opening(() => openDatabase(settings, SCHEMA));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

export function instanceDatabase({ settings }: CommandContext): DatabaseSettings {
  return databaseSettings(settings.read('databaseUrl', 'databasePoolSize', 'dataDirectory'));
}

/** Opens the database. Throws like `withDatabase`. */
export async function opening<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof DataDirectoryLockedError) throw error;
    if (error instanceof StartError) throw new CommandError(error.message);
    throw new CommandError(`The database cannot be opened: ${reasonOf(error)}`);
  }
}

@Module({})
class CommandModule {
  static register(context: CommandContext, database: DatabaseSettings, schema: Schema): DynamicModule {
    return {
      module: CommandModule,
      imports: [DatabaseModule.register(database, schema)],
      providers: [
        ...USER_PROVIDERS,
        ...USER_PORTS,
        ...ADMINISTRATION_PROVIDERS,
        {
          provide: Clock,
          inject: [DataSource],
          useFactory: (source: DataSource) => DatabaseClock.of(source),
        },
        { provide: LOGGER, useValue: SILENT },
        // Events have no listeners here.
        { provide: EventEmitter2, useFactory: () => new EventEmitter2() },
        AuditBus,
        AuditTrailRepository,
        { provide: AuditTrail, useExisting: AuditTrailRepository },
        {
          provide: PersonHashes,
          useFactory: () =>
            new PersonHashes({ deriveKeys: (purpose) => presentKeyRingOf(context).deriveKeys(purpose) }),
        },
        {
          provide: AdministrationSettings,
          inject: [Clock],
          useFactory: (clock: Clock) => new CommandAdministrationSettings(context, clock),
        },
      ],
    };
  }
}

/** @throws CommandError if the database cannot be opened @throws DataDirectoryLockedError */
export function openCommandContext(
  context: CommandContext,
  database: DatabaseSettings,
  schema = SCHEMA,
): Promise<INestApplicationContext> {
  const module = CommandModule.register(context, database, schema);
  const options = { logger: false, abortOnError: false } as const;
  return opening(() => NestFactory.createApplicationContext(module, options));
}

/** The settings that the rules for trusted keys depend on. */
const TRUST_SETTINGS = [
  'jwksAllowHttp',
  'jwksAllowPrivate',
  'strict',
  'baseUrl',
  'port',
  'tlsCertificate',
] as const;

/** The settings of a command that opens the database itself. */
class CommandAdministrationSettings extends AdministrationSettings {
  constructor(
    private readonly context: CommandContext,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** A command can run without the configured keys, and ignores entries with problems. Each instance checks its own. */
  get trust(): StoredEntriesRules {
    const rules = rulesOf(this.context);
    const { trustedKeys = '[]' } = this.context.settings.read('trustedKeys');
    return { configured: readTrustedKeys(trustedKeys, rules).entries, rules };
  }

  get configuredIn(): string {
    return this.context.settings.labelOf('trustedKeys');
  }

  get transmitters(): readonly Transmitter[] {
    return this.context.settings.read('transmitters').transmitters;
  }

  /** Checks as a service with the same variables would. @throws ConfigurationError for the variables that matter */
  async explanationRules(): Promise<ExplanationRules> {
    const { settings } = this.context;
    settings.read(
      ...TRUST_SETTINGS,
      ...(['featureFlag', 'license', 'licensePublicKey'] as const),
      ...(['embedLoginEnabled', 'exchangeEnabled', 'idAssertionEnabled'] as const),
      ...(['maxTokenLifetimeSeconds', 'keyRefreshIntervalSeconds', 'sessionLifetimeSeconds'] as const),
    );
    return explanationRules(await checkStartup(settings.startupSources), this.clock);
  }
}

/** The keys that seal secrets at rest. Call it while the data directory is locked. @throws CommandError if there are none */
export function keyRingOf({ settings }: CommandContext): KeyRing {
  const config = settings.read('databaseUrl', 'dataDirectory', 'encryptionKeys');
  if (config.databaseUrl !== undefined && config.encryptionKeys.length === 0)
    throw new CommandError(
      `SVC_ENCRYPTION_KEY is required with SVC_DATABASE_URL; ${NEW_ENCRYPTION_KEY} generates one.`,
    );
  return new KeyRing(encryptionKeys(config), VARIABLES.encryptionKeys.name);
}

/** The same for readers: it creates no key. @throws CommandError if there are none */
function presentKeyRingOf(context: CommandContext): KeyRing {
  const config = context.settings.read('databaseUrl', 'dataDirectory', 'encryptionKeys');
  const path = encryptionKeyPath(config);
  if (config.databaseUrl === undefined && config.encryptionKeys.length === 0 && !existsSync(path))
    throw new CommandError(
      `The service's encryption key identifies persons, and ${path} does not exist: ` +
        'set SVC_ENCRYPTION_KEY as for the service.',
    );
  return keyRingOf(context);
}

/** The rules for trusted keys, as the service reads them. */
export function rulesOf({ settings }: CommandContext): TrustedKeysRules {
  return trustedKeysRules(settings.read(...TRUST_SETTINGS));
}
