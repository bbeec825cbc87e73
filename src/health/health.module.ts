// Health checks; the composition root says what to check.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { InjectionToken } from '@nestjs/common';
import { GracefulShutdown } from '../platform/http/graceful-shutdown.js';
import { FEATURES, HealthController, READINESS_CHECKS } from './health.controller.js';
import type { Features, ReadinessCheck } from './health.controller.js';

/** How the list of checks is made. */
export interface HealthOptions {
  readonly shutdown: GracefulShutdown;
  readonly imports?: ModuleMetadata['imports'];
  readonly inject: InjectionToken[];
  readonly useFactory: (...dependencies: never[]) => readonly ReadinessCheck[];
  /** Asked whenever readiness is. */
  readonly features: () => Features;
}

@Module({})
export class HealthModule {
  static registerAsync({
    shutdown,
    imports = [],
    inject,
    useFactory,
    features,
  }: HealthOptions): DynamicModule {
    return {
      module: HealthModule,
      imports,
      controllers: [HealthController],
      providers: [
        { provide: GracefulShutdown, useValue: shutdown },
        { provide: READINESS_CHECKS, inject, useFactory },
        { provide: FEATURES, useValue: features },
      ],
    };
  }
}
