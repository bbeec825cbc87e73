// How often revocations are read without notifications.
import { Clock } from '../../../../src/platform/clock.js';
import { SILENT } from '../../../../src/platform/log/log.js';
import { RevocationFollower } from '../../../../src/token-exchange/revocation/revocation.follower.js';
import type { RevocationRepository } from '../../../../src/token-exchange/revocation/revocation.repository.js';
import { Revocations } from '../../../../src/token-exchange/revocation/revocations.js';
import { DEAF } from '../../../support/deaf-notifications.js';

afterEach(() => jest.useRealTimers());

const NOTHING_NEW = { trust: [], endedTokens: [], logouts: [], horizon: '1', last: undefined };

const followerOf = (read: () => Promise<unknown>) =>
  new RevocationFollower(
    { read } as unknown as RevocationRepository,
    new Revocations(),
    DEAF,
    new Clock(),
    SILENT,
  );

it('[D59][D60] revocations are read every two seconds, even without an announcement', async () => {
  jest.useFakeTimers();
  const read = jest.fn(() => Promise.resolve(NOTHING_NEW));
  await followerOf(read).onModuleInit();
  for (const times of [1, 2]) {
    await jest.advanceTimersByTimeAsync(1_999);
    expect(read).toHaveBeenCalledTimes(times);
    await jest.advanceTimersByTimeAsync(1);
    expect(read).toHaveBeenCalledTimes(times + 1);
  }
});
