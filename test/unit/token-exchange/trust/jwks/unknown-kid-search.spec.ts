// The search for a kid that is not held, where the database or a place to wait is missing.
import { SILENT } from '../../../../../src/platform/log/log.js';
import { JwksCacheEntry } from '../../../../../src/token-exchange/trust/jwks/jwks-cache-entry.js';
import type { JwksRefresh } from '../../../../../src/token-exchange/trust/jwks/jwks-refresh.js';
import type { JwksSnapshotFollower } from '../../../../../src/token-exchange/trust/jwks/jwks-snapshot.follower.js';
import type { JwksSnapshotRepository } from '../../../../../src/token-exchange/trust/jwks/jwks-snapshot.repository.js';
import { UnknownKidSearch } from '../../../../../src/token-exchange/trust/jwks/unknown-kid-search.js';
import type { JwksEntry } from '../../../../../src/token-exchange/trust/trusted-key.js';
import { TestClock } from '../../../../support/test-clock.js';

const cachedAt = (url: string) =>
  new JwksCacheEntry({ url, label: 'a', issuer: 'https://a.example' } as JwksEntry, 0, SILENT);

it('[D34][D49] a fetch for which nobody waits, as all places are taken, may fail without a consequence', async () => {
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
    { reread: () => Promise.resolve() } as unknown as JwksSnapshotFollower,
    { running: () => undefined, refresh: () => Promise.resolve() } as unknown as JwksRefresh,
    new TestClock(),
  );
  const hanging = ['https://a.example/1', 'https://a.example/2'].map(cachedAt);
  const waiting = hanging.flatMap((cached) =>
    Array.from({ length: 32 }, () => search.search(cached, 'unknown')),
  );
  await new Promise(setImmediate);
  isAway = true;
  await search.search(cachedAt('https://a.example/3'), 'unknown');
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
  free(undefined);
  await Promise.all(waiting);
});
