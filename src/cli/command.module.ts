// Opens the instance's database for a command, alone or with the modules of its operations. They have no leader, followers, listeners or jobs.
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { DataSource } from 'typeorm';
import { USER_PORTS } from '../administration/accounts/user-port.providers.js';
import { ADMINISTRATION_PROVIDERS } from '../administration/administration.providers.js';
import { CommandError } from '../administration/command-error.js';
import { AdministrationSettings } from '../administration/settings.js';
import { AuditTrailRepository } from '../audit/audit-trail.repository.js';
import { PersonHashes } from '../audit/person-hashes.js';
import { databaseSettings } from '../instance/prepare-startup.js';
import { SCHEMA } from '../instance/schema.js';
import { Clock } from '../platform/clock.js';
import type { DatabaseSettings, OpenDatabase, Schema } from '../platform/database/data-source.js';
import { openDatabase } from '../platform/database/data-source.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { DatabaseClock } from '../platform/database/database-clock.js';
import { DataDirectoryLockedError } from '../platform/database/embedded/data-directory.lock.js';
import { LOGGER, SILENT } from '../platform/log/log.js';
import { StartError } from '../platform/start-error.js';
import { AuditBus, AuditTrail } from '../token-exchange/instance.js';
import { USER_PROVIDERS } from '../users/users.module.js';
import { reasonOf } from './command-answers.js';
import type { CommandContext } from './command-context.js';
import { CommandAdministrationSettings, presentKeyRingOf } from './instance-settings.js';

/**
 * Runs `work` on a database after migrating its schema. It is for work that the running service
 * cannot do for a command. See operation-call.ts for everything else.
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

/** The configured database. */
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
