// Requests count for all instances on one database.
import { Partner } from '../../demo/partner.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { ServiceCluster, describeWithProcesses } from '../support/service-cluster.js';

const LIMIT = 20;

const partner = Partner.create({ issuer: 'https://partner.example' });

const exchange = (instance: ServiceInstance) => instance.exchange(partner.sign());
const embed = (instance: ServiceInstance) => instance.embed(partner.sign());

/** Sends requests to instances and returns the statuses of the answers. */
function statusesOf(
  instances: readonly ServiceInstance[],
  send: (instance: ServiceInstance) => Promise<Response>,
): Promise<number[]> {
  return Promise.all(instances.map(async (instance) => statusOf(await send(instance))));
}

/** Reads the answer to its end, so that its connection is free. */
async function statusOf(answer: Response): Promise<number> {
  await answer.arrayBuffer();
  return answer.status;
}

const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

describeWithProcesses('two processes that count in the database', (database) => {
  let cluster: ServiceCluster;

  beforeAll(async () => {
    cluster = await ServiceCluster.start(2, database, {
      trustedKeys: [partner.staticEntry()],
      environment: {
        SVC_THROTTLE_STORE: 'database',
        SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: String(LIMIT),
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: String(LIMIT),
      },
    });
  });
  afterAll(() => cluster.stop());

  it('[8.6] take 20 exchanges in turns, and the 21st is refused whichever it meets', async () => {
    const turns = Array.from({ length: LIMIT }, (_, turn) => cluster.instance(turn));
    expect(await statusesOf(turns, exchange)).toEqual(times(LIMIT, 200));
    expect(await statusesOf(cluster.instances, exchange)).toEqual([429, 429]);
  });

  it('[8.5] take 20 logins at one, and the 21st is refused by the other', async () => {
    const [first, second] = [cluster.instance(0), cluster.instance(1)];
    expect(await statusesOf(times(LIMIT, first), embed)).toEqual(times(LIMIT, 303));
    const refused = await embed(second);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('ratelimit-limit')).toBe(String(LIMIT));
    const waitSeconds = Number(refused.headers.get('retry-after'));
    expect(waitSeconds).toBeGreaterThan(0);
    expect(waitSeconds).toBeLessThanOrEqual(60);
    expect(await statusesOf([first], embed)).toEqual([429]);
  });
});
