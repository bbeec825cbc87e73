// Metrics on their own address: the paths there, the paths no longer elsewhere, and the listener's stop.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { freePort } from '../../demo/free-port.js';
import { ServiceProcess } from '../../demo/service-process.js';
import {
  describeBuilt,
  logOf,
  openPost,
  runToEnd,
  surroundingsOf,
  untilLogged,
} from '../support/built-service.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { GRANT_TYPE, TestService } from '../support/test-service.js';

describeOnAnyDatabase('[D91] metrics on a port of their own', (database) => {
  let address: string;
  const service = TestService.forBlock(database, async () => {
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    return { environment: { SVC_METRICS_PORT: String(port) } };
  });

  it('are served, with the counts of the other port', async () => {
    await service.exchange({});
    const answer = await fetch(`${address}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const text = await answer.text();
    expect(text).toContain('svc_request_refusals_total{flow="exchange",reason="field_invalid"} 1');
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  });

  it('are not served by the port of the service, which answers as to an unknown path', async () => {
    const [metrics, other] = await Promise.all(['/metrics', '/nothing'].map((path) => service.fetch(path)));
    expect([metrics?.status, await metrics?.text()]).toEqual([404, await other?.text()]);
    expect((await service.post('/metrics', {})).status).toBe(404);
  });

  it('are the only resource, and the answer to another path does not repeat it', async () => {
    const answer = await fetch(new URL('/metrics/Zq9marker?Zq9marker', address));
    expect(answer.status).toBe(404);
    expect(await answer.text()).not.toContain('Zq9marker');
  });
});

describeBuilt('[D91] the process and its ports', () => {
  it('says where they are, serves them until the last request is answered, and ends', async () => {
    const port = await freePort();
    const surroundings = await surroundingsOf({
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: '[]',
      SVC_METRICS_PORT: String(port),
    });
    const service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
    const metrics = () => fetch(`http://127.0.0.1:${port}/metrics`);
    await untilLogged(service, /^the service is ready$/);
    const ready = (await logOf(service)).find(({ msg }) => msg === 'the service is ready');
    expect(ready).toMatchObject({ metricsAddress: `http://127.0.0.1:${port}` });
    expect((await metrics()).status).toBe(200);
    const open = await openPost(`${surroundings.baseUrl}/rest/auth/oauth/token`, { grant_type: GRANT_TYPE });
    const stopped = service.stop();
    await untilLogged(service, /^stopping/);
    expect((await metrics()).status).toBe(200);
    expect(await open.finish()).toBe(400);
    expect(await stopped).toBe(0);
    await expect(metrics()).rejects.toThrow();
    rmSync(surroundings.directory, { recursive: true, force: true });
  });

  it('does not start if it cannot listen, with one line as the reason', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const settings = { SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: '[]', SVC_METRICS_PORT: String(port) };
    const surroundings = await surroundingsOf(settings);
    const { code, stdout, stderr } = await runToEnd(surroundings);
    other.close();
    rmSync(surroundings.directory, { recursive: true, force: true });
    expect(stdout).not.toContain('the service is ready');
    const cause = `another process listens on 127.0.0.1 port ${port}`;
    const line = `SVC_METRICS_PORT: ${cause}; set another port, or another SVC_METRICS_HOST\n`;
    expect([code, stderr]).toEqual([1, line]);
  });
});
