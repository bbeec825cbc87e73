// The list of docs/reference/metrics.md, from the service's metrics.
import { Metrics } from '../../src/metrics/metrics.js';
import { list } from './blocks.js';

type Metric = ReturnType<Metrics['registry']['getMetricsAsArray']>[number] & {
  readonly labelNames: readonly string[];
};

/** Metrics of prom-client itself are left out. */
const OWN = 'svc_';

export const METRIC_BLOCKS = {
  metrics: () =>
    list(
      ownMetrics().map(({ name, labelNames, help }) => [
        labelNames.length === 0 ? `\`${name}\`` : `\`${name}{${labelNames.join(',')}}\``,
        help,
      ]),
    ),
};

/** Every metric that an instance can have, in alphabetical order. No values are read. */
function ownMetrics(): Metric[] {
  const metrics = new Metrics();
  metrics.watchLicense(() => 0);
  metrics.watchRequests(() => 0);
  metrics.watchKeys(() => []);
  metrics.watchEnds(() => []);
  metrics.watchSeats(() => Promise.resolve([]));
  metrics.watchKeySets(() => []);
  metrics.watchDatabase(
    () => ({ open: 0, idle: 0, most: 0, waiting: 0 }),
    () => Promise.resolve(),
  );
  metrics.watchLeader(() => false);
  metrics.watchReplayRecords(() => Promise.resolve({ estimate: 0, expired: 0 }));
  metrics.watchSinks(() => []);
  const all = metrics.registry.getMetricsAsArray() as Metric[];
  return all
    .filter(({ name }) => name.startsWith(OWN))
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
}
