// The search for an unknown kid without the database or a free place in the queue, and its maximum duration.
import { DatabaseWaitError } from '../../../../../src/platform/database/database-error.js';
import { SILENT } from '../../../../../src/platform/log/log.js';
import { JwksCacheEntry } from '../../../../../src/token-exchange/trust/jwks/jwks-cache-entry.js';
import type { JwksRefresh } from '../../../../../src/token-exchange/trust/jwks/jwks-refresh.js';
import type { JwksSnapshotRepository } from '../../../../../src/token-exchange/trust/jwks/jwks-snapshot.repository.js';
import { UnknownKidSearch } from '../../../../../src/token-exchange/trust/jwks/unknown-kid-search.js';
import type { JwksEntry } from '../../../../../src/token-exchange/trust/trusted-key.js';
import { TestClock } from '../../../../support/test-clock.js';

const cachedAt = (url: string) =>
  new JwksCacheEntry({ url, label: 'a', issuer: 'https://a.example' } as JwksEntry, 0, SILENT);

const FOLLOWER = { reread: () => Promise.resolve(), follow: () => Promise.resolve() };

it('[D34][D49] a fetch that no request waits for because all slots are taken may fail without consequence', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  let free: (reserved: undefined) => void = () => undefined;
  const taken = new Promise<undefined>((resolve) => (free = resolve));
  let isAway = false;
  const snapshots = {
    waitMs: 60_000,
    reserveUnknownKidFetch: () => (isAway ? Promise.reject(new Error('away')) : taken),
  };
  const search = new UnknownKidSearch(
    snapshots as unknown as JwksSnapshotRepository,
    FOLLOWER,
    { running: () => undefined, refresh: () => Promise.resolve() } as unknown as JwksRefresh,
    new TestClock(),
  );
  const hanging = [1, 2, 3, 4].map((number) => cachedAt(`https://a.example/${number}`));
  const waiting = hanging.flatMap((cached) =>
    Array.from({ length: 32 }, () => search.search(cached, 'unknown')),
  );
  await new Promise(setImmediate);
  isAway = true;
  await search.search(cachedAt('https://a.example/5'), 'unknown');
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
  free(undefined);
  await Promise.all(waiting);
});

describe('[D36] the shared fetch', () => {
  const never = () => new Promise<never>(() => undefined);
  const searchWith = (clock: TestClock, reservedByOther?: Date) =>
    new UnknownKidSearch(
      {
        waitMs: 1_800,
        reserveUnknownKidFetch: () => Promise.resolve(reservedByOther),
      } as unknown as JwksSnapshotRepository,
      FOLLOWER,
      { running: () => undefined, refresh: never } as unknown as JwksRefresh,
      clock,
    );

  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('[D36] is awaited for six seconds more than a request may wait for the database', async () => {
    const ended = jest.fn();
    searchWith(new TestClock()).search(cachedAt('https://a.example/1'), 'unknown').catch(ended);
    await jest.advanceTimersByTimeAsync(7_799);
    expect(ended).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalledWith(new DatabaseWaitError('time_limit'));
  });

  it.each([
    [0, 6_000],
    [2_000, 4_000],
  ])('[D36] of another instance, reserved %d ms ago, is awaited for %d ms', async (agoMs, leftMs) => {
    const clock = new TestClock();
    const ended = jest.fn();
    const search = searchWith(clock, new Date(clock.nowMs() - agoMs));
    void search.search(cachedAt('https://a.example/1'), 'unknown').then(ended);
    await jest.advanceTimersByTimeAsync(leftMs - 1);
    expect(ended).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalled();
  });
});
