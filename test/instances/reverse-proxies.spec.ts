// Instances behind the reverse proxies that operators are given configurations for: what passes, and that no restart is noticed.
import { Partner } from '../../demo/partner.js';
import { describeUnless } from '../support/describe-unless.js';
import type { ProxyKind } from '../support/reverse-proxies.js';
import { CADDY, HAPROXY, NGINX, ReverseProxy } from '../support/reverse-proxies.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { describeWithProcesses, ServiceCluster } from '../support/service-cluster.js';
import { GRANT_TYPE } from '../support/test-service.js';
import { until } from '../support/until.js';

const WIDTH = 6;
const SOME = 30;
const SOON_MS = 60_000;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
/** An address that no machine here has: TEST-NET-3 (RFC 5737). */
const ELSEWHERE = '203.0.113.9';
const SUCCEEDED = 'svc.audit.token-exchange.succeeded';
const partner = Partner.create({ issuer: 'https://partner.example' });

for (const kind of [NGINX, HAPROXY, CADDY])
  describeUnless(ReverseProxy.obstacle(kind), `instances behind ${kind.name}`, () => declareBehind(kind));

function declareBehind(kind: ProxyKind): void {
  describeWithProcesses('with the documented configuration', (database) => {
    let cluster: ServiceCluster;
    let proxy: ReverseProxy;

    beforeAll(async () => {
      cluster = await ServiceCluster.start(2, database, {
        trustedKeys: [partner.staticEntry()],
        environment: { SVC_SHUTDOWN_DELAY_SECONDS: '4', SVC_PROXY_HOPS: '1' },
      });
      proxy = await ReverseProxy.start(
        kind,
        cluster.instances.map(({ address }) => address),
      );
    });
    afterAll(async () => {
      await proxy?.stop();
      await cluster?.stop();
    });

    const exchange = (headers: object = {}, subjectToken = partner.sign()) =>
      proxy.fetch('/rest/auth/oauth/token', {
        method: 'POST',
        headers: { ...FORM, ...headers },
        body: new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: subjectToken }).toString(),
      });

    it('[D3] both instances answer at one address, and one of sixteen uses of a token succeeds', async () => {
      const token = partner.sign();
      const answers = await Promise.all(Array.from({ length: 16 }, () => exchange({}, token)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const hasAnswered = (instance: ServiceInstance) =>
        instance.log().some(({ event }) => String(event).startsWith('svc.audit.token-exchange.'));
      await until('lines of both', SOON_MS, () => cluster.instances.every(hasAnswered));
    });

    it('[D27] no client can choose its own address', async () => {
      const { status, headers } = await exchange({ 'x-forwarded-for': ELSEWHERE });
      expect(status).toBe(200);
      const line = () =>
        cluster.instances
          .flatMap((instance) => instance.log())
          .find(({ requestId, event }) => requestId === headers['x-request-id'] && event === SUCCEEDED);
      await until('its line in a log', SOON_MS, () => line() !== undefined);
      expect(line()?.payload).toMatchObject({ clientAddress: '127.0.0.1' });
    });

    it('[D21] no client can choose its request id', async () => {
      const chosen = 'chosen-by-a-client';
      const { headers } = await exchange({ 'x-request-id': chosen });
      expect(headers['x-request-id']).toMatch(/^[\w-]{32,36}$/);
      expect(headers['x-request-id']).not.toBe(chosen);
    });

    it('[D27] a login over HTTPS gets its cookie, and plain HTTP is redirected', async () => {
      const login = { method: 'POST', headers: FORM, body: `token=${partner.sign()}` };
      const { status, headers } = await proxy.fetch('/rest/auth/embed', login);
      expect(status).toBe(303);
      expect(headers['set-cookie']?.[0]).toMatch(/; Secure/);
      const plain = await fetch(`${proxy.plainOrigin}/assets?x=1`, { redirect: 'manual' });
      expect([301, 308]).toContain(plain.status);
      expect(plain.headers.get('location')).toMatch(/^https:.*\/assets\?x=1$/);
    });

    it('[B.headers] a header of 14 KiB is accepted, and the service refuses a body that is too large', async () => {
      const long = { authorization: `Bearer ${'x'.repeat(14 * 1024)}` };
      expect((await proxy.fetch('/api/v1/workflows', { headers: long })).status).toBe(401);
      const large = { method: 'POST', headers: FORM, body: `token=${'x'.repeat(300 * 1024)}` };
      const { status, text } = await proxy.fetch('/rest/auth/embed', large);
      expect(status).toBe(413);
      expect(JSON.parse(text)).toMatchObject({ error: expect.any(String) });
    });

    it('no token is logged', async () => {
      const token = partner.sign();
      expect((await proxy.fetch(`/rest/auth/embed?token=${token}`)).status).toBe(303);
      if (kind.logsRequests)
        await until('its line', SOON_MS, () => proxy.log().includes('GET /rest/auth/embed"'));
      expect(proxy.log()).not.toContain(token.split('.')[1]);
    });

    const restart = async (instance: ServiceInstance) => {
      const all = cluster.instances.map(({ address }) => address);
      const stopped = instance.stop();
      // Waits like a readiness probe, which has the shutdown delay for this.
      await until(
        'not ready',
        SOON_MS,
        async () => (await instance.fetch('/healthz/readiness')).status === 503,
      );
      if (!kind.asksForReadiness) proxy.reload(all.filter((address) => address !== instance.address));
      expect(await stopped).toBe(0);
      await instance.start();
      if (!kind.asksForReadiness) proxy.reload(all);
    };

    it('[D93] no request fails during a rolling restart', async () => {
      const statuses: number[] = [];
      let isEnding = false;
      const loop = async () => {
        while (!isEnding) statuses.push((await exchange()).status);
      };
      const loops = Promise.all(Array.from({ length: WIDTH }, loop));
      try {
        for (const instance of cluster.instances) {
          const before = statuses.length;
          await restart(instance);
          expect(statuses.length).toBeGreaterThan(before + SOME);
          // What asks for readiness needs to have seen it before the next one goes.
          const served = () => instance.log().filter(({ msg }) => msg === 'audit').length;
          const soFar = served();
          await until('the instance serves again', SOON_MS, () => served() > soFar);
        }
      } finally {
        isEnding = true;
      }
      await loops;
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
    });
  });
}
