// Instances behind nginx are stopped and started one after another while traffic goes on: nobody notices.
import { Partner } from '../../demo/partner.js';
import { nginxPath, Nginx } from '../support/nginx.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { ServiceCluster, describeWithProcesses } from '../support/service-cluster.js';
import { GRANT_TYPE } from '../support/test-service.js';
import { until } from '../support/until.js';

const WIDTH = 6;
const SOME = 30;
const SOON_MS = 5_000;
const partner = Partner.create({ issuer: 'https://partner.example' });
const path = nginxPath();

jest.setTimeout(120_000);

if (path === undefined)
  describe('[D93] instances behind nginx', () =>
    it.skip('skipped: nginx is not installed (Debian: apt-get install -y nginx-light)', () => undefined));
else
  describeWithProcesses('[D93] instances behind nginx', (database) => {
    let cluster: ServiceCluster;
    let nginx: Nginx;

    beforeAll(async () => {
      cluster = await ServiceCluster.start(2, database, {
        trustedKeys: [partner.staticEntry()],
        environment: { SVC_SHUTDOWN_DELAY_SECONDS: '4', SVC_PROXY_HOPS: '1' },
      });
      nginx = await Nginx.start(
        path,
        cluster.instances.map(({ address }) => address),
      );
    });
    afterAll(async () => {
      await nginx?.stop();
      await cluster?.stop();
    });

    const exchangeStatus = async (): Promise<number> => {
      const answer = await fetch(`${nginx.origin}/rest/auth/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: partner.sign() }),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    const restart = async (instance: ServiceInstance) => {
      const all = cluster.instances.map(({ address }) => address);
      const stopped = instance.stop();
      // As whatever watches readiness does: it has the time of the delay for that.
      await until(
        'not ready',
        SOON_MS,
        async () => (await instance.fetch('/healthz/readiness')).status === 503,
      );
      nginx.reload(all.filter((address) => address !== instance.address));
      expect(await stopped).toBe(0);
      await instance.start();
      nginx.reload(all);
    };

    it('no request fails while one after the other is stopped and started again', async () => {
      const statuses: number[] = [];
      let isEnding = false;
      const loop = async () => {
        while (!isEnding) statuses.push(await exchangeStatus());
      };
      const loops = Promise.all(Array.from({ length: WIDTH }, loop));
      for (const instance of cluster.instances) {
        const before = statuses.length;
        await restart(instance);
        expect(statuses.length).toBeGreaterThan(before + SOME);
      }
      isEnding = true;
      await loops;
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
    });
  });
