// What a process has counted, in a form in which it can be told to another one.
import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import { AggregatorRegistry } from 'prom-client';
import type { Registry } from 'prom-client';

/** As a registry of prom-client tells it. */
export type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

/**
 * What stays of two processes when both are gone: sums of what only ever grows. Without them the instance's counters would
 * fall with a process, which whoever computes their increase takes for a new beginning.
 */
export function lastingOf(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const lasting = snapshots.map((metrics) => metrics.filter(({ type }) => LASTING.has(String(type))));
  // Its types know registries where it takes what they have counted.
  return AggregatorRegistry.aggregate(lasting as unknown as Registry[]).getMetricsAsJSON();
}

const LASTING = new Set(['counter', 'histogram', 'summary']);
