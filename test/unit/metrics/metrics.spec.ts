// Counters that start at 0 before their first event, because alerts need the increase.
import { Metrics } from '../../../src/metrics/metrics.js';
import { repositoryFile } from '../../support/source-files.js';

/** Counters whose increase an alert asks for, with the labels that it asks for. */
const INCREASES = /\bincrease\((?<name>\w+)(?:\{(?<labels>[^}]*)\})?\[/g;
const FLOWS = [
  'exchange',
  'id-jag',
  'jwt-bearer',
  'embed',
  'logout',
  'revocation',
  'introspection',
  'explain',
  'api',
];

describe('[D91] a series that an alert needs from its first event', () => {
  const metrics = new Metrics();
  metrics.watchSinks(() => [{ sink: 'webhook', delivered: 0, failures: 0 }]);

  const values = async (name: string, labels: readonly string[]) =>
    (await metrics.registry.getSingleMetricAsString(name))
      .split('\n')
      .filter((line) => !line.startsWith('#') && labels.every((label) => line.includes(label)))
      .map((line) => Number(line.slice(line.lastIndexOf(' '))));

  const increases = [...repositoryFile('deploy/observability/alerts.yml').text.matchAll(INCREASES)].map(
    ({ groups }) => [groups?.['name'] ?? '', groups?.['labels'] ?? ''] as const,
  );

  it.each(increases)('%s{%s} starts at 0', async (name, labels) => {
    expect(await values(name, labels === '' ? [] : labels.split(', '))).toContain(0);
  });

  it.each(
    FLOWS.flatMap((flow) => [
      ['svc_database_refusals_total', flow],
      ['svc_throttle_refusals_total', flow],
    ]),
  )('%s{flow="%s"} starts at 0', async (name, flow) => {
    expect(await values(name, [`flow="${flow}"`])).toEqual([0]);
  });
});
