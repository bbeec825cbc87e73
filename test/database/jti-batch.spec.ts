// Uses of token ids that share a statement: each id goes to the first request that wants it, and every request uses up its own.
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { USER_TABLE } from '../../src/instance/token-exchange-settings.js';
import { AuditTrail } from '../../src/token-exchange/audit/audit-trail.js';
import type { UseRepository } from '../../src/token-exchange/replay/use.repository.js';
import { jtiHashOf } from '../../src/token-exchange/replay/use.repository.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import type { Random } from '../support/random.js';
import { randomFrom } from '../support/random.js';
import { areNew, usesOn } from '../support/uses.js';

const EXPIRY = 1_900_000_000;

/** The ids of one request: one id, or the ids of subject and actor. */
type Request = readonly string[];

const isAccepted = (uses: UseRepository, jtis: Request) =>
  areNew(
    uses,
    jtis.map((jti) => ({ jti, exp: EXPIRY })),
  );

async function usedAmong(dataSource: DataSource, jtis: readonly string[]): Promise<string[]> {
  const nameOf = new Map(jtis.map((jti) => [jtiHashOf(jti), jti]));
  const rows = await dataSource.query<{ hash: string }[]>(
    `SELECT replace(jti_hash::text, '-', '') AS hash FROM token_exchange_used_jti WHERE jti_hash = ANY ($1)`,
    [[...nameOf.keys()]],
  );
  return rows.map(({ hash }) => nameOf.get(hash) ?? '').sort();
}

/** Singles and pairs over few ids, so that most of them collide, and some over ids that no other request has. */
function randomRequests(random: Random, count: number, pool: readonly string[]): Request[] {
  return Array.from({ length: count }, () => {
    if (random.below(4) === 0) return random.below(2) === 0 ? [randomUUID()] : [randomUUID(), randomUUID()];
    const [first, second] = [random.pick(pool), random.pick(pool)];
    return random.below(2) === 0 ? [first] : [first, second];
  });
}

/** The results of sequential requests. Every request uses up its ids, accepted or not. */
function inOrder(usedBefore: readonly string[], requests: readonly Request[]): boolean[] {
  const used = new Set(usedBefore);
  return requests.map((jtis) => {
    const isNew = new Set(jtis).size === jtis.length && !jtis.some((jti) => used.has(jti));
    jtis.forEach((jti) => used.add(jti));
    return isNew;
  });
}

const fresh = (count: number) => Array.from({ length: count }, () => randomUUID());
const distinct = (requests: readonly Request[]) => [...new Set(requests.flat())].sort();

describe.each([
  ['a host that names its table of users', true],
  ['one that does not', false],
])('[D3] with %s in a statement', (_, hasUserTable) => {
  describeOnEachDatabase('uses of ids', (database) => {
    let dataSource: DataSource;
    let uses: UseRepository;
    let statements = 0;

    beforeAll(async () => {
      ({ dataSource } = await database.open());
      uses = usesOn(dataSource, hasUserTable && USER_TABLE);
      const ignore = () => undefined;
      const logQuery = (text: string) => {
        if (text.includes('INSERT INTO token_exchange_used_jti')) statements += 1;
      };
      const others = { logQueryError: ignore, logQuerySlow: ignore, logSchemaBuild: ignore };
      dataSource.logger = { logQuery, ...others, logMigration: ignore, log: ignore };
    });

    const atOnce = (requests: readonly Request[]) => {
      statements = 0;
      return Promise.all(requests.map((jtis) => isAccepted(uses, jtis)));
    };

    it('[D3] give the same results as sequential uses, for singles and pairs over few ids in seeded rounds', async () => {
      const random = randomFrom(8);
      for (let round = 0; round < 60; round++) {
        const pool = fresh(2 + random.below(30));
        const usedBefore = pool.filter(() => random.below(4) === 0);
        await Promise.all(usedBefore.map((jti) => isAccepted(uses, [jti])));
        const requests = randomRequests(random, 1 + random.below(120), pool);
        expect([round, await atOnce(requests)]).toEqual([round, inOrder(usedBefore, requests)]);
        expect(statements).toBe(1);
        expect(await usedAmong(dataSource, distinct(requests))).toEqual(distinct(requests));
      }
    });

    it('[D2] store each id with its own expiry', async () => {
      const ids = fresh(40).map((jti, index) => ({ jti, exp: EXPIRY + index + 0.25 }));
      await Promise.all(ids.map((id) => areNew(uses, [id])));
      for (const { jti, exp } of ids) {
        const [row] = await dataSource.query<{ expires_at: Date }[]>(
          'SELECT expires_at FROM token_exchange_used_jti WHERE jti_hash = $1',
          [jtiHashOf(jti)],
        );
        expect(row?.expires_at).toEqual(new Date(exp * 1000));
      }
    });
  });
});

/** By default, from the next connections on: then a statement fails whose ids another one uses meanwhile. */
async function repeatReads(dataSource: DataSource): Promise<void> {
  await dataSource.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', current_database(), 'repeatable read'); END $$`,
  );
}

describeOnPostgresql('[D3] uses of ids by two instances', (database) => {
  let instances: UseRepository[];
  let dataSource: DataSource;

  beforeAll(async () => {
    await repeatReads((await database.open()).dataSource);
    const opened = [await database.open(), await database.open()];
    instances = opened.map((each) => usesOn(each.dataSource));
    dataSource = opened[0]!.dataSource;
  });

  const instanceOf = (place: number) => instances[place % 2]!;

  it('[5.2.5][K16] accept one of 64 simultaneous uses of an id in each of 50 rounds', async () => {
    for (let round = 0; round < 50; round++) {
      const contested = randomUUID();
      const accepted = await Promise.all(
        Array.from({ length: 64 }, (_, place) => isAccepted(instanceOf(place), [contested])),
      );
      expect(accepted.filter(Boolean)).toHaveLength(1);
    }
  });

  it('[D3] accept no id twice, use up all ids and never deadlock, for singles and pairs over few ids in seeded rounds', async () => {
    const random = randomFrom(2);
    for (let round = 0; round < 40; round++) {
      const pool = fresh(10);
      const requests = randomRequests(random, 1 + random.below(100), pool);
      const accepted = await Promise.all(
        requests.map((jtis) => isAccepted(instanceOf(random.below(2)), jtis)),
      );
      const won = requests.filter((_, place) => accepted[place]).flat();
      expect(new Set(won).size).toBe(won.length);
      expect(await usedAmong(dataSource, distinct(requests))).toEqual(distinct(requests));
    }
  });
});

/** A host's trail, which keeps its events somewhere else. */
class TrailElsewhere extends AuditTrail {
  override append(): Promise<void> {
    return Promise.resolve();
  }
}

describeOnPostgresql('[D3] the commit of a use', (database) => {
  let dataSource: DataSource;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    await dataSource.query('CREATE TABLE commit_setting (value text)');
    await dataSource.query(`CREATE FUNCTION note_commit_setting() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO commit_setting VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$`);
    await dataSource.query(`CREATE TRIGGER note_commit_setting AFTER INSERT ON token_exchange_used_jti
      FOR EACH STATEMENT EXECUTE FUNCTION note_commit_setting()`);
  });

  it.each([
    ['leaves the wait for the disk to that of its event, in the same database', undefined, 'off'],
    ['waits for the disk if the host keeps its events elsewhere', new TrailElsewhere(), 'on'],
  ])('%s', async (_, trail, expected) => {
    await dataSource.query('TRUNCATE commit_setting');
    const uses = usesOn(dataSource, USER_TABLE, trail);
    expect(await Promise.all(fresh(20).map((jti) => isAccepted(uses, [jti])))).not.toContain(false);
    const rows = await dataSource.query<{ value: string }[]>('SELECT DISTINCT value FROM commit_setting');
    expect(rows).toEqual([{ value: expected }]);
    const settings = await Promise.all(
      Array.from({ length: 20 }, () => dataSource.query('SHOW synchronous_commit')),
    );
    expect(
      new Set(settings.flat().map((row: { synchronous_commit: string }) => row.synchronous_commit)),
    ).toEqual(new Set(['on']));
  });
});
