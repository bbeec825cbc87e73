// What readiness asks for, however many ask for it.
import { HealthController } from '../../../src/health/health.module.js';
import { GracefulShutdown } from '../../../src/platform/http/connections.js';

describe('readiness', () => {
  const features = () => ({ tokenExchange: { available: true } });

  it('is refused while a check fails or throws, with its name', async () => {
    const checks = [
      { name: 'one', isReady: () => true },
      { name: 'other', isReady: () => false },
      { name: 'database', isReady: () => Promise.reject(new Error('away')) },
    ];
    const health = new HealthController(new GracefulShutdown(), checks, features);
    await expect(health.ready()).rejects.toMatchObject({
      status: 503,
      response: { message: 'Waiting for other, database' },
    });
  });

  it('queries the database once for simultaneous requests, and again for the next one', async () => {
    let asked = 0;
    const isReady = () => new Promise<boolean>((resolve) => setImmediate(() => resolve((asked += 1) > 0)));
    const health = new HealthController(new GracefulShutdown(), [{ name: 'database', isReady }], features);
    await Promise.all([health.ready(), health.ready(), health.ready()]);
    expect(asked).toBe(1);
    await health.ready();
    expect(asked).toBe(2);
  });
});
