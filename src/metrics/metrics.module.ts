// Metrics: counted by listening, scraped over HTTP.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { AuditMetricsSink } from './audit-metrics.sink.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';

@Module({})
export class MetricsModule {
  static register(metrics: Metrics): DynamicModule {
    return {
      module: MetricsModule,
      controllers: [MetricsController],
      providers: [{ provide: Metrics, useValue: metrics }, AuditMetricsSink],
      exports: [Metrics],
    };
  }
}
