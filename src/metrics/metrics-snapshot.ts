// What a process has counted, in a form in which it can be told to another one.
import type { Counter, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { AggregatorRegistry } from 'prom-client';

/** As a registry of prom-client tells it. */
export type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

/**
 * What stays of two processes when both are gone: sums of what only ever grows. Without them the instance's counters would
 * fall with a process, which whoever computes their increase takes for a new beginning.
 */
export function lastingOf(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const lasting = snapshots.map((metrics) => metrics.filter(isLasting));
  return AggregatorRegistry.aggregate(lasting).getMetricsAsJSON();
}

/** Of a process that ends: what else it could tell has no value any more, or nothing to be read from. */
export function lastWordOf(registry: Registry): Promise<MetricsSnapshot> {
  // Its types leave out that each can be read.
  const metrics = registry.getMetricsAsArray() as unknown as Counter[];
  return Promise.all(metrics.filter(isLasting).map((metric) => metric.get()));
}

const LASTING = new Set(['counter', 'histogram', 'summary']);

function isLasting(metric: object): boolean {
  return LASTING.has(String((metric as { type?: unknown }).type));
}
