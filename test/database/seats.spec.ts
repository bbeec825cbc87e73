// The seats of an issuer, as the database counts them.
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { USER_TABLE } from '../../src/instance/token-exchange-settings.js';
import { Database } from '../../src/platform/database/database.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import { SeatRepository } from '../../src/token-exchange/identity/seat.repository.js';
import { describeOnEachDatabase } from '../support/databases.js';

const ISSUER = 'https://partner.example';

describeOnEachDatabase('[P.maxUsers] seats', (database) => {
  let dataSource: DataSource;
  const users: string[] = [];

  async function link(subject: string, userId: string, issuer = ISSUER): Promise<void> {
    await dataSource.query(
      'INSERT INTO token_exchange_identity_link (issuer, subject, user_id) VALUES ($1, $2, $3)',
      [issuer, subject, userId],
    );
  }

  /** Two users with a seat, the first by two identities, and a disabled one: four links. */
  beforeAll(async () => {
    ({ dataSource } = await database.open());
    for (const enabled of [true, true, false]) {
      const id = randomUUID();
      await dataSource.query(
        `INSERT INTO user_account (id, email, normalized_email, role, enabled) VALUES ($1, $2, $2, 'global:member', $3)`,
        [id, `${id}@partner.example`, enabled],
      );
      await link(`sub-${users.length}`, id);
      users.push(id);
    }
    await link('second', users[0]!);
    await link('sub-1', users[1]!, 'https://other.example');
  });

  const takenOf = (
    most: number,
    { subject = 'new', userId = undefined as string | undefined, host = false } = {},
  ) => {
    const seats = new SeatRepository(host ? {} : { userTable: USER_TABLE });
    return new Transactions(new Database(dataSource)).run((transaction) =>
      seats.takenWithout(transaction, { issuer: ISSUER, subject, userId, most }),
    );
  };

  it('are counted by users if there are enough links, and by links otherwise', async () => {
    expect([await takenOf(3), await takenOf(4)]).toEqual([2, 2]);
    expect(await takenOf(5)).toBe(4);
  });

  it('are not counted for the identity itself, or for a user with another identity of the issuer', async () => {
    expect([await takenOf(2, { subject: 'sub-1' }), await takenOf(2, { subject: 'second' })]).toEqual([1, 2]);
    expect([await takenOf(2, { userId: users[0] }), await takenOf(2, { userId: users[2] })]).toEqual([
      undefined,
      2,
    ]);
  });

  it('are kept by disabled users if a host has no user table', async () => {
    expect(await takenOf(3, { host: true })).toBe(3);
  });
});
