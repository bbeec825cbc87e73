// Which tasks run, wait and are refused.
import { TooManyRequestsError } from '../../../../../src/platform/http/throttle/rate-limit.js';
import { WorkQueue } from '../../../../../src/platform/http/throttle/work-queue.js';

describe('a queue of two tasks at once and three waiting', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Tasks that end when they are told to. */
  function tasks() {
    const queue = new WorkQueue({ atOnce: 2, waiting: 3, longestWaitMs: 5_000 });
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const take = (number: number) =>
      queue.run(async () => {
        begun.push(number);
        await new Promise<void>((resolve) => ends.push(resolve));
        return number;
      });
    return { queue, begun, ends, take };
  }

  it('runs them in order, and refuses one more', async () => {
    const { begun, ends, take } = tasks();
    const taken = Array.from({ length: 5 }, (_, index) => take(index));
    await expect(take(5)).rejects.toEqual(new TooManyRequestsError(1));
    expect(begun).toEqual([0, 1]);
    for (let index = 0; index < 5; index++) {
      ends[index]?.();
      expect(await taken[index]).toBe(index);
    }
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  it('refuses a task that has waited for the longest time', async () => {
    jest.useFakeTimers();
    const { begun, ends, take } = tasks();
    const [first, second, late] = [take(0), take(1), take(2)];
    const refused = jest.fn();
    late.catch(refused);
    await jest.advanceTimersByTimeAsync(4_999);
    expect(refused).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(refused).toHaveBeenCalledWith(expect.any(TooManyRequestsError));
    for (const end of ends) end();
    await Promise.all([first, second]);
    expect(begun).toEqual([0, 1]);
  });

  it('runs the next task after one that fails', async () => {
    const { queue } = tasks();
    const fails = () => queue.run(() => Promise.reject(new Error('no')));
    const failures = Array.from({ length: 5 }, () => expect(fails()).rejects.toThrow('no'));
    await Promise.all(failures);
    await expect(queue.run(() => Promise.resolve(1))).resolves.toBe(1);
  });
});
