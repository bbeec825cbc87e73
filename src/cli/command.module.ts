// The modules of a command that opens the database itself. They have no leader, followers, listeners or jobs.
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { DataSource } from 'typeorm';
import { USER_PORTS } from '../administration/accounts/user-port.providers.js';
import { ADMINISTRATION_PROVIDERS } from '../administration/administration.providers.js';
import { AdministrationSettings } from '../administration/settings.js';
import { AuditTrailRepository } from '../audit/audit-trail.repository.js';
import { PersonHashes } from '../audit/person-hashes.js';
import { SCHEMA } from '../instance/schema.js';
import { Clock } from '../platform/clock.js';
import type { DatabaseSettings, Schema } from '../platform/database/data-source.js';
import { DatabaseClock } from '../platform/database/database-clock.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { LOGGER, SILENT } from '../platform/log/log.js';
import { AuditBus, AuditTrail } from '../token-exchange/instance.js';
import { USER_PROVIDERS } from '../users/users.module.js';
import type { CommandContext } from './command-context.js';
import { CommandAdministrationSettings, presentKeyRingOf } from './instance-settings.js';
import { opening } from './instance-database.js';

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
