// How often the snapshots are read where no announcement comes.
import { SILENT } from '../../../../../src/platform/log/log.js';
import { JwksCache } from '../../../../../src/token-exchange/trust/jwks/jwks-cache-entry.js';
import { JwksSnapshotFollower } from '../../../../../src/token-exchange/trust/jwks/jwks-snapshot.follower.js';
import type { JwksSnapshotRepository } from '../../../../../src/token-exchange/trust/jwks/jwks-snapshot.repository.js';
import type { JwksEntry } from '../../../../../src/token-exchange/trust/trusted-key.js';
import { DEAF } from '../../../../support/deaf-notifications.js';
import { TestClock } from '../../../../support/test-clock.js';

it('[D36] snapshots are looked at where nothing was read for five seconds', async () => {
  const clock = new TestClock();
  const findChanged = jest.fn(() => Promise.resolve([]));
  const entry = { url: 'https://a.example/keys', label: 'a', issuer: 'https://a.example' } as JwksEntry;
  const follower = new JwksSnapshotFollower(
    new JwksCache([entry], 0, SILENT),
    { findChanged } as unknown as JwksSnapshotRepository,
    DEAF,
    clock,
    SILENT,
  );
  await follower.start();
  clock.advance(4.999);
  await follower.poll();
  expect(findChanged).toHaveBeenCalledTimes(1);
  clock.advance(0.001);
  await follower.poll();
  expect(findChanged).toHaveBeenCalledTimes(2);
});
