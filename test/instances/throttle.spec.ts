// Whether requests count for the instance that they meet, or for all.
import { Partner } from '../../demo/partner.js';
import type { TestDatabase } from '../support/databases.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { ServiceCluster, describeWithProcesses } from '../support/service-cluster.js';

const LIMIT = 20;

const partner = Partner.create({ issuer: 'https://partner.example' });

const exchange = (instance: ServiceInstance) => instance.exchange(partner.sign());
const embed = (instance: ServiceInstance) => instance.embed(partner.sign());

/** Limits of addresses as they are by default. */
function start(
  count: number,
  database: TestDatabase,
  store: string,
  trustedKeys: readonly object[] = [partner.staticEntry()],
): Promise<ServiceCluster> {
  return ServiceCluster.start(count, database, {
    trustedKeys,
    environment: {
      SVC_THROTTLE_STORE: store,
      SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: String(LIMIT),
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: String(LIMIT),
    },
  });
}

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
    cluster = await start(2, database, 'database');
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

describeWithProcesses('two processes that count in memory', (database) => {
  let cluster: ServiceCluster;

  beforeAll(async () => {
    cluster = await start(2, database, 'memory');
  });
  afterAll(() => cluster.stop());

  it.each([
    ['[8.6] take 20 exchanges each', exchange, 200],
    ['[8.5] take 20 logins each', embed, 303],
  ])('%s', async (_, send, accepted) => {
    const turns = Array.from({ length: 2 * LIMIT }, (__, turn) => cluster.instance(turn));
    expect(await statusesOf(turns, send)).toEqual(times(2 * LIMIT, accepted));
    expect(await statusesOf(cluster.instances, send)).toEqual([429, 429]);
  });
});

describeWithProcesses('three processes that count an entry in the database', (database) => {
  const ENTRY_LIMIT = 3 * LIMIT;
  let cluster: ServiceCluster;

  beforeAll(async () => {
    cluster = await start(3, database, 'database', [partner.staticEntry({ perMinute: ENTRY_LIMIT })]);
  });
  afterAll(() => cluster.stop());

  it('[P.perMinute] take as many of one address as its entry may have, in whichever flow', async () => {
    const turns = (count: number) => Array.from({ length: count }, (_, turn) => cluster.instance(turn));
    expect(await statusesOf(turns(LIMIT), exchange)).toEqual(times(LIMIT, 200));
    expect(await statusesOf(turns(LIMIT), embed)).toEqual(times(LIMIT, 303));
    expect(await statusesOf(turns(LIMIT), exchange)).toEqual(times(LIMIT, 200));
    const answers = await Promise.all(cluster.instances.map(exchange));
    expect(answers.map(({ status, headers }) => [status, headers.get('ratelimit-limit')])).toEqual(
      times(3, [429, String(ENTRY_LIMIT)]),
    );
    expect(await statusesOf(cluster.instances, embed)).toEqual([429, 429, 429]);
  });

  it('[P.perMinute] hold an address whose tokens the entry refuses, at any of them', async () => {
    // Three have been refused before, and count for the address as these do.
    const turns = Array.from({ length: LIMIT - 3 }, (_, turn) => cluster.instance(turn));
    expect(await statusesOf(turns, exchange)).toEqual(times(LIMIT - 3, 429));
    const answers = await Promise.all(cluster.instances.map(exchange));
    expect(answers.map(({ status, headers }) => [status, headers.get('ratelimit-limit')])).toEqual(
      times(3, [429, String(LIMIT)]),
    );
  });
});
