// Metrics: counted by listening, scraped over HTTP.
import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { Log } from '../platform/log/log.js';
import { AuditMetricsSink } from './audit-metrics.sink.js';
import { MetricsListener } from './metrics.listener.js';
import { Metrics } from './metrics.js';
import type { MetricsAddress } from './metrics.listener.js';

@Module({})
export class MetricsModule {
  /** @param address where they are served; without one they are only counted */
  static register(metrics: Metrics, logger: Log, address?: MetricsAddress): DynamicModule {
    const listener: Provider[] =
      address === undefined
        ? []
        : [{ provide: MetricsListener, useValue: new MetricsListener(metrics, address, logger) }];
    return {
      module: MetricsModule,
      providers: [{ provide: Metrics, useValue: metrics }, AuditMetricsSink, ...listener],
      exports: [Metrics],
    };
  }
}
