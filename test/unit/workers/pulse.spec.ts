// When a worker is taken for stuck.
import { Pulse } from '../../../src/workers/pulse.js';

const BEAT_MS = 2_000;

describe('[D123] the pulse of a worker', () => {
  let asked: { answer: () => void; refuse: (error: Error) => void }[];
  let lost: number;
  let pulse: Pulse;

  beforeEach(() => {
    jest.useFakeTimers();
    asked = [];
    lost = 0;
    pulse = new Pulse(
      () => new Promise((answer, refuse) => asked.push({ answer, refuse })),
      () => (lost += 1),
    );
  });

  afterEach(() => {
    pulse.end();
    jest.useRealTimers();
  });

  it('is lost once, after twenty seconds without an answer, and one question waits at a time', async () => {
    await jest.advanceTimersByTimeAsync(10 * BEAT_MS);
    expect(lost).toBe(0);
    await jest.advanceTimersByTimeAsync(BEAT_MS);
    expect(lost).toBe(1);
    await jest.advanceTimersByTimeAsync(100 * BEAT_MS);
    expect([asked.length, lost]).toEqual([1, 1]);
  });

  it('is not lost by one that answers late, however often', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      await jest.advanceTimersByTimeAsync(9 * BEAT_MS);
      asked.at(-1)?.answer();
      await jest.advanceTimersByTimeAsync(0);
    }
    expect(lost).toBe(0);
    expect(asked.length).toBeGreaterThanOrEqual(5);
  });

  it('is not felt for any more once the worker is gone', async () => {
    await jest.advanceTimersByTimeAsync(BEAT_MS);
    asked[0]?.refuse(new Error('gone'));
    await jest.advanceTimersByTimeAsync(100 * BEAT_MS);
    expect([asked.length, lost]).toEqual([1, 0]);
  });
});
