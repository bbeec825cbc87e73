// Metrics: counted by listening, scraped over HTTP.
import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { AuditMetricsSink } from './audit-metrics.sink.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsListener } from './metrics.listener.js';
import { Metrics } from './metrics.js';
import type { MetricsAddress } from './metrics.listener.js';

@Module({})
export class MetricsModule {
  /** @param address of a listener of their own; without it the service's own answers `/metrics` */
  static register(metrics: Metrics, address?: MetricsAddress): DynamicModule {
    return {
      module: MetricsModule,
      controllers: address === undefined ? [MetricsController] : [],
      providers: [{ provide: Metrics, useValue: metrics }, AuditMetricsSink, ...listener(address)],
      exports: [Metrics],
    };
  }
}

function listener(address: MetricsAddress | undefined): Provider[] {
  if (address === undefined) return [];
  const useFactory = (metrics: Metrics) => new MetricsListener(metrics, address);
  return [{ provide: MetricsListener, inject: [Metrics], useFactory }];
}
