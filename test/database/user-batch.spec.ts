// Users that many requests look for at once: each asker gets its own, as it is at that moment.
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { OperatorSessionRepository } from '../../src/administration/accounts/operator-session.repository.js';
import { USER_TABLE } from '../../src/instance/token-exchange-settings.js';
import { Database } from '../../src/platform/database/database.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import type { ExternalIdentity } from '../../src/token-exchange/host/users.js';
import type { UseRepository } from '../../src/token-exchange/replay/use.repository.js';
import { UserRepository } from '../../src/users/user.repository.js';
import { PersonalProjectRepository } from '../../src/workspace/projects/project.repository.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { randomFrom } from '../support/random.js';
import { linkedTo, usesOn } from '../support/uses.js';

const ISSUER = 'https://partner.example';

/** Texts that a list of parameters, an array literal or a comparison might get wrong. */
const ODD_SUBJECTS = ['plain', 'PLAIN', 'plain ', '', 'NULL', "'", '\\"', '$1', '%', '😀', 'é', 'e\u0301'];

describeOnEachDatabase('concurrent user lookups', (database) => {
  let dataSource: DataSource;
  let transactions: Transactions;
  let uses: UseRepository;
  let users: UserRepository;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    const pool = new Database(dataSource);
    transactions = new Transactions(pool);
    uses = usesOn(dataSource);
    users = new UserRepository(pool, new PersonalProjectRepository(), new OperatorSessionRepository(pool));
  });
  beforeEach(() => dataSource.query('TRUNCATE user_account, token_exchange_identity_link CASCADE'));

  const newUser = async (givenName = 'Robin') => {
    const id = randomUUID();
    await dataSource.query(
      `INSERT INTO user_account (id, email, normalized_email, given_name, role)
       VALUES ($1, $2, $2, $3, 'global:member')`,
      [id, `${id}@partner.example`, givenName],
    );
    return id;
  };
  const link = async (subject: string, issuer = ISSUER) => {
    const userId = await newUser();
    await dataSource.query(
      'INSERT INTO token_exchange_identity_link (issuer, subject, user_id) VALUES ($1, $2, $3)',
      [issuer, subject, userId],
    );
    return userId;
  };
  const findIds = async (identities: ExternalIdentity[]) => {
    const found = await Promise.all(identities.map((identity) => linkedTo(uses, identity)));
    return found.map(({ subject }) => subject?.id);
  };
  const ofIssuer = (subjects: readonly string[], issuer = ISSUER) =>
    subjects.map((subject) => ({ issuer, subject }));

  it.each([
    [{ ...USER_TABLE, name: 'nobody' }, 'relation "nobody" does not exist'],
    [{ ...USER_TABLE, columns: { ...USER_TABLE.columns, role: 'rolle' } }, 'account.rolle does not exist'],
    [{ ...USER_TABLE, idType: 'integer' as const }, 'cannot cast type uuid to integer'],
  ])("prevent startup if the host's table differs from its description, %#", async (userTable, fault) => {
    const start = usesOn(dataSource, userTable).onModuleInit();
    await expect(start).rejects.toThrow(new RegExp(`^userTable: .*${fault}`));
    await expect(uses.onModuleInit()).resolves.toBeUndefined();
  });

  it("[4.4.1] return each identity's user, and none for unknown identities, in seeded rounds", async () => {
    const random = randomFrom(441);
    const known = new Map<string, string>();
    for (let index = 0; index < 40; index++) known.set(`sub-${index}`, await link(`sub-${index}`));
    for (let round = 0; round < 20; round++) {
      const asked = Array.from({ length: 1 + random.below(400) }, () => `sub-${random.below(80)}`);
      expect(await findIds(ofIssuer(asked))).toEqual(asked.map((subject) => known.get(subject)));
    }
  });

  it('[D1] match unusual subjects exactly', async () => {
    const ids = new Map<string, string>();
    for (const subject of ODD_SUBJECTS) {
      expect(await findIds(ofIssuer([subject, ...ODD_SUBJECTS]))).toEqual(
        [subject, ...ODD_SUBJECTS].map((each) => ids.get(each)),
      );
      ids.set(subject, await link(subject));
    }
    expect(await findIds(ofIssuer(ODD_SUBJECTS))).toEqual(ODD_SUBJECTS.map((each) => ids.get(each)));
    expect(await findIds(ofIssuer(ODD_SUBJECTS, 'https://other.example'))).toEqual(
      ODD_SUBJECTS.map(() => undefined),
    );
  });

  it("[D30] return each id's user as a transaction does, and none for unknown ids", async () => {
    const random = randomFrom(30);
    const ids: string[] = [];
    for (let index = 0; index < 30; index++) ids.push(await newUser(`Robin ${index}`));
    const asked = Array.from({ length: 300 }, () =>
      random.below(4) === 0 ? randomUUID() : random.pick(ids),
    );
    const found = await Promise.all(asked.map((id) => users.findById(id)));
    const alone = new Map(
      await Promise.all(
        ids.map(async (id) => [id, await transactions.run((each) => users.findById(id, each))] as const),
      ),
    );
    found.forEach((user, place) => {
      const expected = alone.get(asked[place] ?? '');
      // TypeORM makes instances of the class; what they hold must be the same.
      expect(user && { ...user }).toEqual(expected && { ...expected });
    });
  });

  it('[D30] see everything committed before the call, under constant load', async () => {
    const id = await link('changing');
    const changing = async () => (await linkedTo(uses, { issuer: ISSUER, subject: 'changing' })).subject;
    let goesOn = true;
    const ask = async () => {
      while (goesOn) {
        await Promise.all([users.findById(id), changing()]);
        // The embedded database answers without leaving this turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const others = Array.from({ length: 8 }, ask);
    for (let change = 0; change < 60; change++) {
      const [enabled, givenName] = [change % 2 === 0, `Robin ${change}`];
      await transactions.run((each) => users.update(id, { enabled, givenName }, each));
      const [user, linked] = await Promise.all([users.findById(id), changing()]);
      expect([user, linked]).toMatchObject([
        { id, enabled, givenName },
        { id, enabled, givenName },
      ]);
    }
    await dataSource.query('DELETE FROM user_account WHERE id = $1', [id]);
    expect(await users.findById(id)).toBeUndefined();
    expect(await changing()).toBeUndefined();
    goesOn = false;
    await Promise.all(others);
  });
});
