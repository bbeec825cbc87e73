// When a follower reads.
import { Follower } from '../../../../src/platform/jobs/follower.js';
import { Notifications } from '../../../../src/platform/jobs/notifications.js';
import { SILENT } from '../../../../src/platform/log/log.js';
import { TestClock } from '../../../support/test-clock.js';

class Announcements extends Notifications {
  readonly hasOtherProcesses = true;
  announce: () => void = () => undefined;

  listen(_channel: string, onNews: () => void) {
    this.announce = onNews;
    return { end: () => Promise.resolve() };
  }
}

const never = () => new Promise<never>(() => undefined);

let clock: TestClock;
let read: jest.Mock<Promise<void>, []>;
let errors: string[];
let announcements: Announcements;
let follower: Follower;

const followerOf = (patienceMs?: number) => {
  const followed = { channel: 'a', pollMs: 5_000, failure: 'it cannot be read', read, patienceMs };
  const log = { ...SILENT, error: (_: object, message: string) => void errors.push(message) };
  return new Follower(followed, announcements, clock, log);
};
const pass = async (seconds: number) => {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1);
    await jest.advanceTimersByTimeAsync(1_000);
  }
};

beforeEach(() => {
  jest.useFakeTimers();
  clock = new TestClock();
  errors = [];
  read = jest.fn(() => Promise.resolve());
  announcements = new Announcements();
  follower = followerOf();
});
afterEach(() => jest.useRealTimers());

it('[D36][D72] reads at startup, after each announcement, and after an interval without a read', async () => {
  await follower.start();
  expect(read).toHaveBeenCalledTimes(1);
  await pass(4);
  expect(read).toHaveBeenCalledTimes(1);
  announcements.announce();
  await jest.advanceTimersByTimeAsync(0);
  await pass(4);
  expect(read).toHaveBeenCalledTimes(2);
  await pass(1);
  expect(read).toHaveBeenCalledTimes(3);
});

it('[D72] reads again after a read that may have missed a change', async () => {
  let end = () => undefined as void;
  read.mockReturnValueOnce(new Promise((resolve) => (end = resolve)));
  const first = follower.follow();
  const both = [follower.followNews(), follower.followNews(), follower.follow()];
  expect(read).toHaveBeenCalledTimes(1);
  end();
  await Promise.all([first, ...both]);
  expect(read).toHaveBeenCalledTimes(2);
});

it('[D60] starts another read beside a hanging one if reads may end in any order', async () => {
  follower = followerOf(3_000);
  await follower.start();
  read.mockImplementation(never);
  await pass(5 + 2);
  expect(read).toHaveBeenCalledTimes(2);
  await pass(3);
  expect(read).toHaveBeenCalledTimes(3);
});

it('[D72] starts no other read while one hangs if reads must end in order', async () => {
  await follower.start();
  read.mockImplementation(never);
  await pass(60);
  expect(read).toHaveBeenCalledTimes(2);
});

it('[D60][D72] reports a failure once, reads again, and reports the next failure', async () => {
  read.mockRejectedValueOnce(new Error('away'));
  read.mockRejectedValueOnce(new Error('away'));
  await follower.start();
  await pass(5);
  expect(errors).toEqual(['it cannot be read']);
  await pass(5);
  read.mockRejectedValueOnce(new Error('away'));
  await pass(5);
  expect(errors).toEqual(['it cannot be read', 'it cannot be read']);
});

it('[D36] shares a running read, and otherwise reads again only after the given time', async () => {
  await follower.follow();
  clock.advance(0.9);
  await follower.reread(1_000);
  expect(read).toHaveBeenCalledTimes(1);
  clock.advance(0.1);
  await Promise.all([follower.reread(1_000), follower.reread(1_000)]);
  expect(read).toHaveBeenCalledTimes(2);
  await expect(follower.stop()).resolves.toBeUndefined();
});
