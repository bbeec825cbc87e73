// The keys that sign access tokens, on several instances: who publishes, signs and takes what, before and after a rotation.
import { Database } from '../../src/platform/database/database.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import { PUBLISHED_MAX_AGE_SECONDS } from '../../src/platform/http/http-messages.js';
import { SILENT } from '../../src/platform/log/log.js';
import { KeyRing } from '../../src/platform/secrets/key-ring.js';
import { SigningKeyRepository } from '../../src/token-exchange/tokens/signing-key.repository.js';
import { endPresentKey, SigningKeyService } from '../../src/token-exchange/tokens/signing-key.service.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { TestClock } from '../support/test-clock.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describeOnEachDatabase('[D29] signing keys', (database) => {
  let clock: TestClock;
  let shared: Database;
  let repository: SigningKeyRepository;
  let transactions: Transactions;

  beforeAll(async () => {
    shared = new Database((await database.open()).dataSource);
    repository = new SigningKeyRepository(shared);
    transactions = new Transactions(shared);
  });
  beforeEach(async () => {
    clock = new TestClock();
    await shared.query('TRUNCATE token_exchange_signing_key');
  });

  const instance = async () => {
    const ring = new KeyRing([Buffer.alloc(32, 1)]);
    const keys = new SigningKeyService(repository, transactions, ring, clock, SILENT);
    await keys.refresh();
    return keys;
  };
  const rotate = () => transactions.run((transaction) => endPresentKey(repository, transaction, clock.now()));
  const published = (keys: SigningKeyService) => keys.publicKeys().keys.map(({ kid }) => kid);

  it('are published longer than caches and clocks need before they sign', async () => {
    const [one, other] = [await instance(), await instance()];
    const old = one.current().kid;
    const signsFrom = await rotate();
    const aheadSeconds = ((signsFrom?.getTime() ?? 0) - clock.nowMs()) / 1000;
    expect(aheadSeconds).toBeGreaterThanOrEqual(PUBLISHED_MAX_AGE_SECONDS + 30 * MINUTE);
    for (const keys of [one, other, one]) await keys.refresh();
    const [first, next = ''] = published(one);
    expect([first, published(other), published(one)]).toEqual([old, [old, next], [old, next]]);
    for (const [seconds, kid] of [
      [0, old],
      [aheadSeconds - 1, old],
      [1, next],
    ] as const) {
      clock.advance(seconds);
      expect([one.current().kid, other.current().kid]).toEqual([kid, kid]);
    }
  });

  it('are published until their last token has expired on the slowest clock, and no longer', async () => {
    const keys = await instance();
    const old = keys.current().kid;
    const signsFrom = await rotate();
    const untilSwitch = ((signsFrom?.getTime() ?? 0) - clock.nowMs()) / 1000;
    for (const [seconds, isPublished] of [
      [untilSwitch + DAY + 30 * MINUTE, true],
      [30 * MINUTE, false],
    ] as const) {
      clock.advance(seconds);
      await keys.refresh();
      expect([published(keys).includes(old), (await keys.find(old)) !== undefined]).toEqual([
        isPublished,
        isPublished,
      ]);
    }
  });

  it('are not postponed by a second rotation, which creates no third key', async () => {
    const keys = await instance();
    const signsFrom = await rotate();
    await keys.refresh();
    clock.advance(30 * MINUTE);
    expect(await rotate()).toEqual(signsFrom);
    await keys.refresh();
    expect(published(keys)).toHaveLength(2);
  });

  it('sign earlier if a published successor exists', async () => {
    const keys = await instance();
    clock.advance(29.5 * DAY);
    await keys.refresh();
    const [old, next] = published(keys);
    const signsFrom = await rotate();
    await keys.refresh();
    expect(published(keys)).toEqual([old, next]);
    expect((signsFrom?.getTime() ?? 0) - clock.nowMs()).toBeLessThan((DAY / 2) * 1000);
    expect(keys.current().kid).toBe(old);
    clock.advance(((signsFrom?.getTime() ?? 0) - clock.nowMs()) / 1000);
    expect(keys.current().kid).toBe(next);
  });

  it('survive a stopped service: the next start creates the successor, and publishes it before it signs', async () => {
    const old = (await instance()).current().kid;
    await rotate();
    clock.advance(HOUR);
    const started = await instance();
    expect([started.current().kid, published(started).length]).toEqual([old, 2]);
    clock.advance(HOUR);
    expect(started.current().kid).not.toBe(old);
  });

  it('cannot rotate before the first start', async () => {
    expect(await rotate()).toBeUndefined();
  });

  it('verify nothing after deletion once an instance has checked, and one new key signs at once', async () => {
    const [one, other] = [await instance(), await instance()];
    const old = one.current().kid;
    await rotate();
    await one.refresh();
    const pending = published(one)[1] ?? '';
    await transactions.run((transaction) => repository.deleteAll(transaction));
    await Promise.all([one.refresh(), other.refresh()]);
    const { kid } = one.current();
    expect([old, pending]).not.toContain(kid);
    expect([published(one), published(other), other.current().kid]).toEqual([[kid], [kid], kid]);
    expect([await other.find(old), await one.find(pending)]).toEqual([undefined, undefined]);
  });

  it('that are deleted are not used by an instance that cannot create one', async () => {
    const keys = await instance();
    const { kid } = keys.current();
    await shared.query('DELETE FROM token_exchange_signing_key');
    await shared.query('ALTER TABLE token_exchange_signing_key ADD CONSTRAINT full_disk CHECK (false)');
    await expect(keys.refresh()).rejects.toThrow('full_disk');
    await shared.query('ALTER TABLE token_exchange_signing_key DROP CONSTRAINT full_disk');
    expect(await keys.find(kid)).toBeUndefined();
    await keys.refresh();
    expect(keys.current().kid).not.toBe(kid);
  });

  it('of another instance are known within a second', async () => {
    const [one, other] = [await instance(), await instance()];
    await transactions.run((transaction) => repository.deleteAll(transaction));
    await one.refresh();
    clock.advance(1);
    expect((await other.find(one.current().kid))?.kid).toBe(one.current().kid);
  });
});
