// Uses of token ids that share a statement: each request has its ids to itself, whole or not at all.
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { SettlementRepository } from '../../src/instance/ports/settlement.repository.js';
import { JtiRepository } from '../../src/token-exchange/consumption/jti.repository.js';
import { Database } from '../../src/platform/database/database.js';
import { Rejection } from '../../src/token-exchange/rejection.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import type { Random } from '../support/random.js';
import { randomFrom } from '../support/random.js';

const EXPIRY = 1_900_000_000;

/** The ids of one request: one, or those of subject and actor. */
type Request = readonly string[];

/** Whether each request was accepted, in their order; all go out in one turn of the event loop. */
function consumeAtOnce(
  requests: readonly Request[],
  repositoryOf: (place: number) => JtiRepository,
): Promise<boolean[]> {
  return Promise.all(requests.map((jtis, place) => isAccepted(repositoryOf(place), jtis)));
}

async function isAccepted(repository: JtiRepository, jtis: Request): Promise<boolean> {
  try {
    await repository.consume(jtis.map((jti) => ({ jti, exp: EXPIRY })));
    return true;
  } catch (error) {
    if (error instanceof Rejection && error.reason === 'token_replayed') return false;
    throw error;
  }
}

async function usedAmong(dataSource: DataSource, jtis: readonly string[]): Promise<Set<string>> {
  const nameOf = new Map(jtis.map((jti) => [createHash('sha256').update(jti).digest('hex'), jti]));
  const rows = await dataSource.query<{ hash: string }[]>(
    `SELECT encode(jti_hash, 'hex') AS hash FROM token_exchange_used_jti WHERE encode(jti_hash, 'hex') = ANY ($1)`,
    [[...nameOf.keys()]],
  );
  return new Set(rows.map(({ hash }) => nameOf.get(hash) ?? ''));
}

/** What holds whoever won: accepted requests share no id, and exactly what they used is used. */
async function expectFair(
  dataSource: DataSource,
  usedBefore: readonly string[],
  requests: readonly Request[],
  accepted: readonly boolean[],
): Promise<void> {
  const won = requests.filter((_, place) => accepted[place]).flat();
  const used = [...usedBefore, ...won];
  expect(new Set(used).size).toBe(used.length);
  const after = await usedAmong(dataSource, [...usedBefore, ...requests.flat()]);
  expect([...after].sort()).toEqual(used.sort());
  const refused = requests.filter((_, place) => !accepted[place]);
  expect(refused.filter((jtis) => !jtis.some((jti) => after.has(jti)))).toEqual([]);
}

/** Singles and pairs over few ids, so that most of them collide, and some over ids that nobody else has. */
function randomRequests(random: Random, count: number, pool: readonly string[]): Request[] {
  return Array.from({ length: count }, () => {
    if (random.below(4) === 0) return random.below(2) === 0 ? [randomUUID()] : [randomUUID(), randomUUID()];
    const [first, second] = [random.pick(pool), random.pick(pool)];
    return random.below(2) === 0 || first === second ? [first] : [first, second];
  });
}

/** What comes of requests that come one after the other. */
function consumeInOrder(usedBefore: readonly string[], requests: readonly Request[]): boolean[] {
  const used = new Set(usedBefore);
  return requests.map((jtis) => {
    if (jtis.some((jti) => used.has(jti))) return false;
    jtis.forEach((jti) => used.add(jti));
    return true;
  });
}

/** Both ways in which a request uses up its ids. The users are unknown, so that a settlement is its ids and nothing else. */
const WAYS: [string, (dataSource: DataSource) => (jtis: Request) => Promise<unknown>][] = [
  [
    'consumed',
    (dataSource) => {
      const repository = new JtiRepository(new Database(dataSource));
      return (jtis) => repository.consume(usesOf(jtis));
    },
  ],
  [
    'settled',
    (dataSource) => {
      const repository = new SettlementRepository(dataSource);
      const nobody = { issuer: 'https://nobody.example', subject: 'nobody' };
      return (jtis) =>
        repository.settle({
          uses: usesOf(jtis),
          subject: nobody,
          ...(jtis.length > 1 ? { actor: nobody } : {}),
          events: [],
        });
    },
  ],
];

function usesOf(jtis: Request): { jti: string; exp: number }[] {
  return jtis.map((jti) => ({ jti, exp: EXPIRY }));
}

function isTaken(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    (error: unknown) => {
      if (error instanceof Rejection && error.reason === 'token_replayed') return false;
      throw error;
    },
  );
}

/** Counts the statements that use ids up, as the data source tells of them. */
function countConsumptions(dataSource: DataSource): { statements: number } {
  const count = { statements: 0 };
  const ignore = () => undefined;
  dataSource.logger = {
    logQuery: (statement) => {
      if (statement.includes('INSERT INTO token_exchange_used_jti')) count.statements += 1;
    },
    logQueryError: ignore,
    logQuerySlow: ignore,
    logSchemaBuild: ignore,
    logMigration: ignore,
    log: ignore,
  };
  return count;
}

const fresh = (count: number) => Array.from({ length: count }, () => randomUUID());

describe.each(WAYS)('ids that are %s together', (_way, consumerOn) => {
  describeOnEachDatabase('each as if it had come in its turn', (database) => {
    let dataSource: DataSource;
    let consume: (jtis: Request) => Promise<unknown>;
    let count: { statements: number };

    beforeAll(async () => {
      ({ dataSource } = await database.open());
      consume = consumerOn(dataSource);
      count = countConsumptions(dataSource);
    });

    const atOnce = async (requests: readonly Request[]) => {
      count.statements = 0;
      return Promise.all(requests.map((jtis) => isTaken(consume(jtis))));
    };

    it('[D3] singles and pairs over few ids, in seeded rounds, have what they would have one by one', async () => {
      const random = randomFrom(8);
      for (let round = 0; round < 60; round++) {
        const pool = fresh(2 + random.below(30));
        const usedBefore = pool.filter(() => random.below(4) === 0);
        await Promise.all(usedBefore.map((jti) => consume([jti])));
        const requests = randomRequests(random, 1 + random.below(120), pool);
        const accepted = await atOnce(requests);
        expect([round, accepted]).toEqual([round, consumeInOrder(usedBefore, requests)]);
        expect(count.statements).toBeLessThanOrEqual(2);
        await expectFair(dataSource, usedBefore, requests, accepted);
      }
    });

    it.each<[string, number, (used: readonly string[]) => Request[]]>([
      ['each with a free id of its own', 1, (used) => used.map((jti) => [jti, randomUUID()])],
      [
        'all with the same free id',
        2,
        (used) => used.map((jti) => [jti, used[0]!.replace(/^.{8}/, 'the-same')]),
      ],
      ['all with the same used id', 2, (used) => used.map(() => [used[0]!, randomUUID()])],
      [
        'each with its free id in the next',
        2,
        (used) => used.map((jti, at) => [jti, `${used[0]} ${at >> 1}`]),
      ],
    ])(
      '[D3] 200 half-used pairs, %s, cost their neighbours no statement more than %d',
      async (_what, most, make) => {
        const used = fresh(200);
        await Promise.all(used.map((jti) => consume([jti])));
        const pairs = make(used);
        const requests = [...fresh(28).map((jti) => [jti]), ...pairs, ...fresh(28).map((jti) => [jti])];
        const accepted = await atOnce(requests);
        expect(accepted).toEqual(requests.map((request) => request.length === 1));
        expect(count.statements).toBeLessThanOrEqual(most);
        await expectFair(dataSource, used, requests, accepted);
      },
    );

    it('[D3] pairs are found by key, also where the statement was planned on an empty table', async () => {
      await dataSource.query('TRUNCATE token_exchange_used_jti');
      await dataSource.query('ANALYZE token_exchange_used_jti');
      await consume(fresh(2));
      const grow = `INSERT INTO token_exchange_used_jti SELECT sha256(n::text::bytea), now() FROM generate_series(1, 30000) AS n`;
      await dataSource.query(grow);
      const times: number[] = [];
      for (let tries = 0; tries < 3; tries++) {
        const startedAt = performance.now();
        await atOnce(Array.from({ length: 250 }, () => fresh(2)));
        times.push(performance.now() - startedAt);
      }
      // To read the table for each of 500 ids takes seconds.
      expect(Math.min(...times)).toBeLessThan(500);
    });

    it('[D3] a chain of pairs that each share an id with the next is decided by two statements', async () => {
      const ids = fresh(101);
      const chain = ids.slice(1).map((id, at) => [ids[at]!, id]);
      expect(await atOnce(chain)).toEqual(chain.map((_, at) => at % 2 === 0));
      expect(count.statements).toBeLessThanOrEqual(2);
    });
  });

  describeOnPostgresql('a race that another transaction wins', (database) => {
    it.each([
      ['COMMIT', false, 2],
      ['ROLLBACK', true, 1],
    ])(
      '[D3] by %s in the midst of the statement: the pair is whole or nothing, and no neighbour is refused',
      async (end, isPairAccepted, statements) => {
        const { dataSource } = await database.open();
        const consume = consumerOn(dataSource);
        const [contested = '', free = ''] = fresh(2);
        const other = dataSource.createQueryRunner();
        await other.query('BEGIN');
        await other.query('INSERT INTO token_exchange_used_jti VALUES (sha256($1), now())', [
          Buffer.from(contested),
        ]);
        const count = countConsumptions(dataSource);
        const requests = [
          ...fresh(20).map((jti) => [jti]),
          [contested, free],
          ...fresh(20).map((jti) => [jti]),
        ];
        const answers = Promise.all(requests.map((jtis) => isTaken(consume(jtis))));
        const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'`;
        while (((await other.query(waits)) as unknown[]).length === 0) await pause(10);
        await other.query(end);
        await other.release();
        const accepted = await answers;
        expect(accepted).toEqual(requests.map((request) => request.length === 1 || isPairAccepted));
        expect(count.statements).toBe(statements);
        expect(await isTaken(consume([free]))).toBe(!isPairAccepted);
      },
    );
  });
});

describeOnEachDatabase('uses of ids in one statement', (database) => {
  let dataSource: DataSource;
  let jtis: JtiRepository;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    jtis = new JtiRepository(new Database(dataSource));
  });

  /** Fresh ids under the letters of a test. */
  const names = (letters: string) => {
    const round = randomUUID();
    return [...letters].map((letter) => `${letter} ${round}`);
  };
  const atOnce = (...requests: Request[]) => consumeAtOnce(requests, () => jtis);
  const isUsed = async (jti: string) => (await usedAmong(dataSource, [jti])).size === 1;

  it('[5.2.5] of 32 uses of one id at once one passes, in each of 50 rounds', async () => {
    for (let round = 0; round < 50; round++) {
      const [contested = ''] = names('x');
      const accepted = await atOnce(...Array.from({ length: 32 }, () => [contested]));
      expect(accepted.filter(Boolean)).toHaveLength(1);
    }
  });

  it('[5.2.5] eight ids, each used by four of 32 requests at once, pass once each', async () => {
    for (let round = 0; round < 20; round++) {
      const ids = names('abcdefgh');
      const requests = Array.from({ length: 32 }, (_, index) => [ids[index % 8] ?? '']);
      const accepted = await atOnce(...requests);
      const winners = requests.filter((_, place) => accepted[place]).flat();
      expect(winners.sort()).toEqual(ids.toSorted());
    }
  });

  it.each([
    ['the first half', 0],
    ['the second half', 1],
  ])(
    '[D3] a pair of which %s was used before leaves the other unused, and harms no neighbour',
    async (_, half) => {
      const [used = '', free = '', n1 = '', n2 = '', n3 = ''] = names('ufabc');
      await jtis.consume([{ jti: used, exp: EXPIRY }]);
      const pair = half === 0 ? [used, free] : [free, used];
      expect(await atOnce([n1], pair, [n2, n3])).toEqual([true, false, true]);
      expect(await isUsed(free)).toBe(false);
      expect([await isUsed(n1), await isUsed(n2), await isUsed(n3)]).toEqual([true, true, true]);
      expect(await atOnce([free])).toEqual([true]);
    },
  );

  it('[D3] of two pairs that share an id one passes, and the free id of the other stays free', async () => {
    const [a = '', b = '', c = '', n = ''] = names('abcn');
    const requests = [[a, b], [n], [b, c]];
    const accepted = await atOnce(...requests);
    expect(accepted).toEqual([true, true, false]);
    await expectFair(dataSource, [], requests, accepted);
    expect(await atOnce([c])).toEqual([true]);
  });

  it.each(['before', 'after'])(
    '[D3] of a single use that comes %s a pair with its id the first passes',
    async (order) => {
      const [a = '', b = ''] = names('ab');
      const requests = order === 'before' ? [[a], [a, b]] : [[a, b], [a]];
      const accepted = await atOnce(...requests);
      expect(accepted).toEqual([true, false]);
      await expectFair(dataSource, [], requests, accepted);
    },
  );

  it('[D3] a pair whose ids two others used in the same statement, one each, is refused', async () => {
    const [a = '', b = ''] = names('ab');
    expect(await atOnce([a], [b], [a, b], [b, a])).toEqual([true, true, false, false]);
    expect(await atOnce([a], [b])).toEqual([false, false]);
  });

  it('[D3] a chain of pairs that each share an id with the next', async () => {
    const ids = names('abcdefghijklmnopqrst');
    const chain = ids.slice(1).map((id, index) => [ids[index] ?? '', id]);
    const accepted = await atOnce(...chain);
    await expectFair(dataSource, [], chain, accepted);
    expect(accepted[0]).toBe(true);
  });

  it('[D3] a pair of one id with itself is refused and leaves it unused, its neighbours pass', async () => {
    const [a = '', n = ''] = names('an');
    expect(await atOnce([a, a], [n])).toEqual([false, true]);
    expect(await atOnce([a])).toEqual([true]);
  });

  it('[D3] half-used pairs among many others: each other answer is as if it had come alone', async () => {
    const used = names('uvw');
    for (const jti of used) await jtis.consume([{ jti, exp: EXPIRY }]);
    const fresh = Array.from({ length: 300 }, () => [randomUUID()]);
    const halves = used.map((jti) => [jti, randomUUID()]);
    const requests = [
      ...fresh.slice(0, 100),
      ...halves.slice(0, 1),
      ...fresh.slice(100, 250),
      ...halves.slice(1),
      ...fresh.slice(250),
    ];
    const accepted = await atOnce(...requests);
    expect(accepted).toEqual(requests.map((request) => !halves.includes(request)));
    await expectFair(dataSource, used, requests, accepted);
  });

  it('[D3] singles and pairs over few ids, in seeded rounds: none passes twice, none is used in vain', async () => {
    const random = randomFrom(525);
    for (let round = 0; round < 25; round++) {
      const pool = names('abcdefghijkl');
      const usedBefore = pool.slice(0, random.below(4));
      for (const jti of usedBefore) await jtis.consume([{ jti, exp: EXPIRY }]);
      const requests = randomRequests(random, 1 + random.below(80), pool);
      await expectFair(dataSource, usedBefore, requests, await atOnce(...requests));
    }
  });

  it('[D2] each id is stored with the expiry that came with it, whatever its neighbours have', async () => {
    const uses = Array.from({ length: 40 }, (_, index) => ({
      jti: randomUUID(),
      exp: EXPIRY + index + 0.25,
    }));
    await Promise.all(uses.map((use) => jtis.consume([use])));
    for (const { jti, exp } of uses) {
      const [row] = await dataSource.query<{ expires_at: Date }[]>(
        'SELECT expires_at FROM token_exchange_used_jti WHERE jti_hash = sha256($1)',
        [Buffer.from(jti)],
      );
      expect(row?.expires_at).toEqual(new Date(exp * 1000));
    }
  });
});

describeOnPostgresql('uses of ids in statements of two instances', (database) => {
  let instances: JtiRepository[];
  let dataSource: DataSource;

  beforeAll(async () => {
    const opened = [await database.open(), await database.open()];
    instances = opened.map((each) => new JtiRepository(new Database(each.dataSource)));
    dataSource = opened[0]!.dataSource;
  });

  const instanceOf = (place: number) => instances[place % 2]!;

  it('[5.2.5][K16] of 64 uses of one id at once one passes, in each of 50 rounds', async () => {
    for (let round = 0; round < 50; round++) {
      const contested = randomUUID();
      const requests = Array.from({ length: 64 }, () => [contested]);
      const accepted = await consumeAtOnce(requests, instanceOf);
      expect(accepted.filter(Boolean)).toHaveLength(1);
    }
  });

  it('[D3] a half-used pair on one, its other half on the other: the single one passes, every time', async () => {
    for (let round = 0; round < 60; round++) {
      const [used, free] = [randomUUID(), randomUUID()];
      await instanceOf(round).consume([{ jti: used, exp: EXPIRY }]);
      const pairs = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? [used, free] : [free, used]));
      const requests = [...pairs.slice(0, 4), [free], ...pairs.slice(4)];
      const accepted = await consumeAtOnce(requests, (place) => instanceOf(place === 4 ? round : round + 1));
      expect(accepted).toEqual(requests.map((request) => request.length === 1));
    }
  });

  it('[D3] swapped pairs and singles from both sides never wait for each other in a circle', async () => {
    for (let round = 0; round < 40; round++) {
      const ids = Array.from({ length: 6 }, () => randomUUID());
      const pairs = Array.from({ length: 30 }, (_, index) => [
        ids[index % 6] ?? '',
        ids[(index + 1 + (index % 5)) % 6] ?? '',
      ]);
      const requests = pairs.filter(([first, second]) => first !== second);
      await expectFair(dataSource, [], requests, await consumeAtOnce(requests, (place) => instanceOf(place)));
    }
  });

  it('[D3] singles and pairs over few ids, in seeded rounds, on both sides', async () => {
    const random = randomFrom(2);
    for (let round = 0; round < 40; round++) {
      const pool = Array.from({ length: 10 }, () => randomUUID());
      const usedBefore = pool.slice(0, random.below(4));
      for (const jti of usedBefore) await instanceOf(round).consume([{ jti, exp: EXPIRY }]);
      const requests = randomRequests(random, 1 + random.below(100), pool);
      const accepted = await consumeAtOnce(requests, () => instanceOf(random.below(2)));
      await expectFair(dataSource, usedBefore, requests, accepted);
    }
  });
});
