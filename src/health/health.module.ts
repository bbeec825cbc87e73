// Health checks; the composition root says what to check.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { InjectionToken } from '@nestjs/common';
import { Departure } from '../http/departure.js';
import { HealthController, READINESS_CHECKS } from './health.controller.js';
import type { ReadinessCheck } from './health.controller.js';

/** How the list of checks is made. */
export interface HealthOptions {
  readonly departure: Departure;
  readonly imports?: ModuleMetadata['imports'];
  readonly inject: InjectionToken[];
  readonly useFactory: (...dependencies: never[]) => readonly ReadinessCheck[];
}

@Module({})
export class HealthModule {
  static registerAsync({ departure, imports = [], inject, useFactory }: HealthOptions): DynamicModule {
    return {
      module: HealthModule,
      imports,
      controllers: [HealthController],
      providers: [
        { provide: Departure, useValue: departure },
        { provide: READINESS_CHECKS, inject, useFactory },
      ],
    };
  }
}
