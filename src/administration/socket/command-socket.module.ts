// The command socket of a service that has the embedded database.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LOGGER } from '../../platform/log/log.js';
import { Administration } from '../administration.js';
import type { CommandServerOptions } from './command.server.js';
import { CommandServer } from './command.server.js';

@Module({})
export class CommandSocketModule {
  /** @param imports modules that offer log and administration */
  static register(
    options: CommandServerOptions,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    const useFactory = (performs: Administration, logger: Logger) =>
      new CommandServer(options, performs, logger);
    const inject = [Administration, LOGGER];
    return {
      module: CommandSocketModule,
      imports,
      providers: [{ provide: CommandServer, useFactory, inject }],
    };
  }
}
