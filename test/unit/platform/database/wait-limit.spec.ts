// How long a request waits for the database, and when it does not wait.
import { Batch } from '../../../../src/platform/database/database.js';
import { DatabaseWaitError } from '../../../../src/platform/database/database-error.js';
import {
  MAX_WAITING,
  SharedWait,
  statementMs,
  withinWait,
} from '../../../../src/platform/database/wait-limit.js';

const never = () => new Promise<never>(() => undefined);

afterEach(() => jest.useRealTimers());

it('[D49] work is awaited for exactly as long as a request may wait', async () => {
  jest.useFakeTimers();
  const ended = jest.fn();
  withinWait(1_800, never).catch(ended);
  await jest.advanceTimersByTimeAsync(1_799);
  expect(ended).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(ended).toHaveBeenCalledWith(new DatabaseWaitError('time_limit'));
});

it('[D49] hanging work is refused at once if no time is left', async () => {
  await expect(withinWait(-5, never)).rejects.toBeInstanceOf(DatabaseWaitError);
});

it('[D102] a pause does not use up the wait', async () => {
  jest.useFakeTimers();
  const wait = new SharedWait(1_000);
  const ended = jest.fn();
  wait.inTime(never).catch(ended);
  await jest.advanceTimersByTimeAsync(600);
  wait.pause();
  await jest.advanceTimersByTimeAsync(3_000);
  wait.resume();
  await jest.advanceTimersByTimeAsync(399);
  expect(ended).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(ended).toHaveBeenCalledWith(new DatabaseWaitError('time_limit'));
});

it('[D49] the server gives up before the client, and always has a minimum', () => {
  expect(statementMs(1_800)).toBe(1_600);
  expect(statementMs(200)).toBe(50);
});

it('[D49] more items than fit in the time are refused without a statement', async () => {
  const sent: number[] = [];
  const batch = new Batch<number, string>((items) => {
    sent.push(...items);
    return never();
  });
  const outcomes = Array.from({ length: MAX_WAITING }, (_, item) => batch.add(item));
  outcomes.forEach((outcome) => void outcome.catch(() => undefined));
  await expect(batch.add(-1)).rejects.toEqual(new DatabaseWaitError('pool_exhausted'));
  expect(sent).not.toContain(-1);
});

it('[D49] an item whose request is already answered is not sent', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  const sent: number[] = [];
  let free = () => undefined as void;
  const batch = new Batch<number, string>(async (items) => {
    sent.push(...items);
    if (items.includes(0)) await new Promise<void>((resolve) => (free = resolve));
    return items.map(String);
  }, 30);
  const first = batch.add(0);
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  const second = batch.add(1);
  jest.advanceTimersByTime(60);
  free();
  await expect(second).rejects.toEqual(new DatabaseWaitError('time_limit'));
  expect([await first, sent]).toEqual(['0', [0]]);
});
