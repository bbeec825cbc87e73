// What becomes of a start where another process has the port of the metrics.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { MetricsListener } from '../../../src/metrics/metrics.listener.js';
import { Metrics } from '../../../src/metrics/metrics.js';
import { SILENT } from '../../../src/platform/log/log.js';

describe('[D91] a port of metrics that another process has', () => {
  let other: Server;
  let warnings: object[];
  beforeEach(async () => {
    warnings = [];
    other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
  });
  afterEach(() => other.close());

  const listener = (isChosen: boolean) => {
    const logger = { ...SILENT, warn: (fields: object) => warnings.push(fields) };
    const { port } = other.address() as AddressInfo;
    return new MetricsListener(new Metrics(), { host: '127.0.0.1', port, isChosen }, logger);
  };

  it('is warned of where no operator has chosen it, and the start goes on', async () => {
    const metrics = listener(false);
    await metrics.onApplicationBootstrap();
    expect(metrics.address).toBeUndefined();
    expect(warnings).toEqual([
      { reason: expect.stringMatching(/^SVC_METRICS_PORT: another process listens/) },
    ]);
    await metrics.onApplicationShutdown();
  });

  it('ends the start where an operator has chosen it', async () => {
    await expect(listener(true).onApplicationBootstrap()).rejects.toThrow(
      /^SVC_METRICS_PORT: another process/,
    );
    expect(warnings).toEqual([]);
  });
});
