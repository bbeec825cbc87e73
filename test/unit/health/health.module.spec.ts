// What readiness asks for, however many ask for it.
import { HealthController } from '../../../src/health/health.module.js';
import { GracefulShutdown } from '../../../src/platform/http/connections.js';

describe('readiness', () => {
  it('queries the database once for simultaneous requests, and again for the next one', async () => {
    let asked = 0;
    const isReady = () => new Promise<boolean>((resolve) => setImmediate(() => resolve((asked += 1) > 0)));
    const features = () => ({ tokenExchange: { available: true } });
    const health = new HealthController(new GracefulShutdown(), [{ name: 'database', isReady }], features);
    await Promise.all([health.ready(), health.ready(), health.ready()]);
    expect(asked).toBe(1);
    await health.ready();
    expect(asked).toBe(2);
  });
});
