// A proof at several processes at once, nonces of one process at another, and a sealing key that is replaced.
import { randomBytes } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { DpopClient } from '../support/dpop-client.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { describeWithProcesses, ServiceCluster } from '../support/service-cluster.js';
import { BASE_URL, GRANT_TYPE } from '../support/test-service.js';

const ME = '/rest/me';
const ROUNDS = 5;

interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly nonce: string | undefined;
}

async function read(answer: Response): Promise<Answered> {
  const body = (await answer.json()) as Answered['body'];
  return { status: answer.status, body, nonce: answer.headers.get('dpop-nonce') ?? undefined };
}

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const client = new DpopClient();

const exchange = async (instance: ServiceInstance, dpop: string) =>
  read(
    await instance.fetch('/rest/auth/oauth/token', {
      method: 'POST',
      body: new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: partner.sign() }),
      headers: { dpop },
    }),
  );
const call = async (instance: ServiceInstance, headers: Record<string, string>) =>
  read(await instance.fetch(ME, { headers }));

describeWithProcesses('[D142] three processes', (database) => {
  let cluster: ServiceCluster;
  beforeAll(async () => {
    cluster = await ServiceCluster.start(3, database, { trustedKeys: [partner.staticEntry()] });
  });
  afterAll(() => cluster?.stop());
  const onEach = <T>(ask: (instance: ServiceInstance) => Promise<T>) =>
    Promise.all(cluster.instances.map(ask));

  it('[D142] accept one proof once in three simultaneous exchanges', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const dpop = client.proof();
      const answers = await onEach((instance) => exchange(instance, dpop));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
      const errors = answers.flatMap(({ body }) => body['error'] ?? []);
      expect(errors).toEqual(['invalid_dpop_proof', 'invalid_dpop_proof']);
    }
  });

  it("[D142] accept a call's proof once each, as security.md says", async () => {
    const { body } = await exchange(cluster.instance(0), client.proof());
    const headers = client.headersFor(String(body['access_token']), ME);
    for (const expected of [200, 401])
      expect((await onEach((instance) => call(instance, headers))).map(({ status }) => status)).toEqual(
        cluster.instances.map(() => expected),
      );
  });
});

describeWithProcesses(
  '[D143] three processes with nonces, one of them with a new encryption key',
  (database) => {
    let cluster: ServiceCluster;
    let apart: ServiceCluster;
    const sealing = randomBytes(32).toString('base64');

    beforeAll(async () => {
      const start = (count: number, keys: string) =>
        ServiceCluster.start(count, database, {
          trustedKeys: [partner.staticEntry()],
          environment: { SVC_DPOP_NONCE: 'true', SVC_ENCRYPTION_KEY: keys },
        });
      cluster = await start(2, sealing);
      apart = await start(1, `${sealing},${randomBytes(32).toString('base64')}`);
    });
    afterAll(async () => {
      await cluster?.stop();
      await apart?.stop();
    });

    it("[D143] all accept each other's nonces at both endpoints", async () => {
      const instances = [...cluster.instances, ...apart.instances];
      for (const [index, from] of instances.entries()) {
        const to = instances[(index + 1) % instances.length]!;
        const { body: refusal, nonce } = await exchange(from, client.proof());
        expect(refusal['error']).toBe('use_dpop_nonce');
        const { status, body } = await exchange(to, client.proof({ claims: { nonce } }));
        expect(status).toBe(200);
        const headers = client.headersFor(String(body['access_token']), ME, { claims: { nonce } });
        expect((await call(from, headers)).status).toBe(200);
      }
    });
  },
);
