// Offers the log.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LOGGER } from './log.js';

@Module({})
export class LoggingModule {
  static register(logger: Logger): DynamicModule {
    return { module: LoggingModule, providers: [{ provide: LOGGER, useValue: logger }], exports: [LOGGER] };
  }
}
