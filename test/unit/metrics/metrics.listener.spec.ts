// The start of the service if another process uses the default metrics port. e2e/metrics-listener covers configured ports.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Metrics } from '../../../src/metrics/metrics.js';
import { MetricsListener } from '../../../src/metrics/metrics.listener.js';
import { SILENT } from '../../../src/platform/log/log.js';

it('[D91] an occupied default metrics port causes a warning, and startup continues', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const warnings: object[] = [];
  const logger = { ...SILENT, warn: (fields: object) => warnings.push(fields) };
  const metrics = new MetricsListener(new Metrics(), { host: '127.0.0.1', port, isChosen: false }, logger);
  await metrics.onApplicationBootstrap();
  expect(metrics.address).toBeUndefined();
  expect(warnings).toEqual([{ reason: expect.stringMatching(/^SVC_METRICS_PORT: another process listens/) }]);
  await metrics.onApplicationShutdown();
  other.close();
});
