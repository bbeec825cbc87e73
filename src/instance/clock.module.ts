// Offers the clock.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { Clock } from '../platform/clock.js';

@Module({})
export class ClockModule {
  static register(clock: Clock): DynamicModule {
    return { module: ClockModule, providers: [{ provide: Clock, useValue: clock }], exports: [Clock] };
  }
}
