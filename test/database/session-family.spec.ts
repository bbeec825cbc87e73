// Families of sessions in the table: what waits for what when requests meet.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import type { Transaction } from '../../src/platform/database/transaction.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { SessionRepository } from '../../src/token-exchange/login/session.repository.js';
import { SessionService } from '../../src/token-exchange/login/session.service.js';
import { SESSION_PURGE } from '../../src/token-exchange/login/sessions.providers.js';
import { ClockDifference } from '../../src/token-exchange/replay/clock-difference.js';
import { untilOneIsBlocked } from '../support/blocked-transactions.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { knownRevocations } from '../support/known-revocations.js';
import { batches, purgeJobOn } from '../support/purges.js';
import { TestClock } from '../support/test-clock.js';
import { auditBusOn } from '../support/uses.js';

/** Longer than any of these transactions. The embedded database cannot be queried during one. */
const LONG_ENOUGH_MS = 200;

describeOnEachDatabase('[D28] stored session families', (database) => {
  let dataSource: DataSource;
  let transactions: Transactions;
  let sessions: SessionService;
  let userId: string;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    transactions = new Transactions(new Database(dataSource));
    const clock = new TestClock();
    const clocks = new ClockDifference(new Database(dataSource), clock, createLogger('silent'));
    await clocks.onModuleInit();
    await clocks.beforeApplicationShutdown();
    sessions = new SessionService(
      new SessionRepository(new Database(dataSource)),
      knownRevocations(),
      clock,
      clocks,
      {
        cookieName: '__Host-session',
        lifetimeSeconds: 3600,
        maxPerUser: 100,
        partitioned: true,
      },
      auditBusOn(dataSource),
      createLogger('silent'),
    );
  });
  beforeEach(async () => {
    userId = randomUUID();
    await dataSource.query(
      `INSERT INTO user_account (id, email, normalized_email, role) VALUES ($1, $2, $2, 'global:member')`,
      [userId, `${userId}@partner.example`],
    );
  });

  const open = async (transaction: Transaction, cookies?: string) => {
    const login = {
      userId,
      loginOrigin: undefined,
      cookies,
      requestId: 'test',
      signedBy: [],
      externalLogin: { sub: 'ada', iat: 0 },
    };
    return (await sessions.open(transaction, login)).setCookie;
  };
  const login = (cookies?: string) => transactions.run((transaction) => open(transaction, cookies));
  const idOf = (setCookie: string) => /=([^;]*)/.exec(setCookie)?.[1] ?? '';
  const liveOnes = async (...setCookies: string[]) => (await sessions.findLive(setCookies.map(idOf))).length;
  const familyOf = async (setCookie: string) =>
    (await sessions.findLive([idOf(setCookie)]))[0]?.familyId ?? 'none';
  const signOut = (familyId: string) =>
    transactions.run((transaction) => sessions.signOut(transaction, [familyId], 'test'));
  /** Holds a transaction open after its work, until another one has run into it. */
  const whileHeld = async <T>(
    work: (transaction: Transaction) => Promise<T>,
    other: () => Promise<unknown>,
  ) => {
    let release = () => undefined as void;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    let reached = () => undefined as void;
    const isReached = new Promise<void>((resolve) => (reached = resolve));
    const held = transactions.run(async (transaction) => {
      const result = await work(transaction);
      reached();
      await isReleased;
      return result;
    });
    await isReached;
    const met = other();
    if (database.kind === 'embedded') await sleep(LONG_ENOUGH_MS);
    else await untilOneIsBlocked((sql) => dataSource.query(sql));
    release();
    await met;
    return held;
  };

  it('[D28] end completely if a sign-out meets a renewal', async () => {
    const first = await login();
    const family = await familyOf(first);
    const second = await whileHeld(
      (transaction) => open(transaction, first),
      () => signOut(family),
    );
    expect(await liveOnes(first, second)).toBe(0);
  });

  it('[D28] give no session to a renewal that meets a sign-out', async () => {
    const first = await login();
    const family = await familyOf(first);
    let renewed = '';
    await whileHeld(
      (transaction) => sessions.signOut(transaction, [family], 'test'),
      async () => (renewed = await login(first)),
    );
    expect([await liveOnes(first), await liveOnes(renewed)]).toEqual([0, 1]);
    expect(await familyOf(renewed)).not.toBe(family);
  });

  it('[D28] leave the old session unchanged if a login is rolled back', async () => {
    const first = await login();
    const [before] = await sessions.findLive([idOf(first)]);
    const failing = transactions.run(async (transaction) => {
      await open(transaction, first);
      throw new Error('the audit row fails');
    });
    await expect(failing).rejects.toThrow('the audit row fails');
    expect(await sessions.findLive([idOf(first)])).toEqual([before]);
  });

  it('[D38] are purged in batches, and kept for five minutes after their end', async () => {
    const ended = async (...minutesAgo: number[]) =>
      dataSource.query(
        `INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at)
         SELECT sha256(gen_random_uuid()::text::bytea), $1, gen_random_uuid(), now(), now() - ago * interval '1 minute'
         FROM unnest($2::int[]) AS ago`,
        [userId, minutesAgo],
      );
    await ended(4, 6, 7, 8);
    const left = async (mayGoOn?: () => boolean) => {
      await purgeJobOn(dataSource, { ...SESSION_PURGE, batchSize: 2 }, new TestClock()).run(mayGoOn);
      const [row] = await dataSource.query<{ count: number }[]>(
        'SELECT count(*)::int FROM token_exchange_session WHERE expires_at < now()',
      );
      return row?.count;
    };
    expect([await left(batches(1)), await left()]).toEqual([2, 1]);
  });
});
