// The table of identity links. Its key is issuer and sub together, compared byte by byte.
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import type { Transaction } from '../../src/platform/database/transaction.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import { MemoryCounts } from '../../src/platform/http/throttle/rate-limit.js';
import { createLogger } from '../../src/platform/log/logger.js';
import type { HostUser, UserDirectory } from '../../src/token-exchange/host/users.js';
import { IdentityService } from '../../src/token-exchange/identity/identity.service.js';
import { IdentityLinkRepository } from '../../src/token-exchange/identity/identity-link.repository.js';
import { SeatRepository } from '../../src/token-exchange/identity/seat.repository.js';
import { NewProjectThrottle } from '../../src/token-exchange/projects/new-project-throttle.js';
import type { TrustedKeyService } from '../../src/token-exchange/trust/lookup/trusted-key.service.js';
import type { VerifiedToken } from '../../src/token-exchange/verify/external-token.verifier.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { TestClock } from '../support/test-clock.js';
import { linkedTo, usesOn } from '../support/uses.js';

const ISSUER = 'https://partner.example';

describeOnEachDatabase('identity links', (database) => {
  const links = new IdentityLinkRepository();
  let dataSource: DataSource;
  let transactions: Transactions;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    transactions = new Transactions(new Database(dataSource));
  });

  const inTransaction = <T>(work: (transaction: Transaction) => Promise<T>) => transactions.run(work);
  /** Finds the user with both statements, which must never find different users. */
  const find = async (issuer: string, subject: string) => {
    const identity = { issuer, subject };
    const alone = await inTransaction((transaction) => links.find(transaction, identity));
    const together = await linkedTo(usesOn(dataSource), { issuer, subject: 'nobody' }, identity);
    expect([together.subject, together.actor?.id]).toEqual([undefined, alone?.userId]);
    return alone?.userId;
  };
  const insert = (issuer: string, subject: string, userId: string) =>
    inTransaction((transaction) =>
      links.insert(
        transaction,
        { issuer, subject },
        { userId, byAdministrator: false, isProvisioned: false },
      ),
    );

  async function newUser(): Promise<string> {
    const id = randomUUID();
    await dataSource.query(
      `INSERT INTO user_account (id, email, normalized_email, role) VALUES ($1, $2, $2, 'global:member')`,
      [id, `${id}@partner.example`],
    );
    return id;
  }

  it('[D1] distinguish identities whose issuer and sub have the same concatenation', async () => {
    const userId = await newUser();
    await insert('https://a.example', '/b:c', userId);
    expect(await find('https://a.example/b', ':c')).toBeUndefined();
    expect(await find('https://a.example/b:', 'c')).toBeUndefined();
  });

  it('[2.5.1] are never moved to another user', async () => {
    const [first, second] = [await newUser(), await newUser()];
    await insert(ISSUER, 'stays', first);
    expect(await insert(ISSUER, 'stays', second)).toBe(false);
    expect(await find(ISSUER, 'stays')).toBe(first);
  });

  it('[D6] are created by exactly one of many concurrent inserts, and only that insert reports it', async () => {
    const users = await Promise.all(Array.from({ length: 20 }, newUser));
    const made = await Promise.all(users.map((userId) => insert(ISSUER, 'contested', userId)));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await find(ISSUER, 'contested')).toBe(users[made.indexOf(true)]);
  });

  it('[D6] are not applied if user or link has changed since the decision', async () => {
    const user = { id: await newUser(), role: 'member', enabled: true, givenName: 'Ada', familyName: '' };
    const email = { email: 'ada@partner.example', emailVerified: true };
    const claims = { iss: ISSUER, sub: 'applied', givenName: 'Ada', ...email };
    const subject = { claims, key: { policy: {} } } as VerifiedToken;
    const roles = { assignable: [], owner: 'owner', initial: 'member' };
    const counts = new MemoryCounts(new TestClock());
    const newProjects = new NewProjectThrottle(counts, createLogger('silent'));
    const apply = (by: 'link' | 'email', locked?: HostUser) => {
      const [read, lock] = [async () => user, async () => locked];
      const users = { findById: read, findByEmail: read, lock } as unknown as UserDirectory;
      const find = async () => (by === 'link' ? { userId: user.id } : undefined);
      const found = Object.assign(new IdentityLinkRepository(), { find });
      const seats = new SeatRepository({});
      const keys = { maxUsersOf: () => undefined } as unknown as TrustedKeyService;
      const identities = new IdentityService(found, users, { roles }, newProjects, seats, keys);
      return inTransaction(async (each) => (await identities.resolve(each, { subject })).subject);
    };
    await expect(apply('link', user)).rejects.toThrow('user or link was deleted meanwhile');
    expect((await apply('email', user)).changes).toMatchObject([{ kind: 'identity-linked' }]);
    await expect(apply('email', user)).rejects.toThrow('this identity was linked by a parallel login');
    await expect(apply('link')).rejects.toThrow('user or link was deleted meanwhile');
    await expect(apply('link', { ...user, givenName: 'Eve' })).rejects.toThrow('this user was changed');
    expect(await apply('link', user)).toMatchObject({ userId: user.id, changes: [] });
  });
});
