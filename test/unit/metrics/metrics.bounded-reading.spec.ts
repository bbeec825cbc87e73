// How often metrics read a source, and which values they report while it does not answer.
import { BoundedReading } from '../../../src/metrics/metrics.js';

describe('[D91] a periodically read value', () => {
  let now = 0;
  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => jest.restoreAllMocks());

  /** A source that answers the number of the call, unless the test sets another answer. */
  const source = () => {
    const state = { asked: 0, answer: async (): Promise<number> => state.asked };
    const read = () => {
      state.asked += 1;
      return state.answer();
    };
    return { state, reading: new BoundedReading(read) };
  };

  it('is read once in ten seconds for any number of readers', async () => {
    const { reading } = source();
    expect(await Promise.all([reading.latest(), reading.latest()])).toEqual([1, 1]);
    now += 9_999;
    expect(await reading.latest()).toBe(1);
    now += 1;
    expect(await reading.latest()).toBe(2);
  });

  it('is unknown while reading fails, and known again afterwards', async () => {
    const { state, reading } = source();
    await reading.latest();
    const { answer } = state;
    state.answer = () => Promise.reject(new Error('away'));
    now += 10_000;
    expect(await reading.latest()).toBeUndefined();
    state.answer = answer;
    now += 10_000;
    expect(await reading.latest()).toBe(3);
  });

  it('is unknown while a read is unanswered, and is not read again before that', async () => {
    const { state, reading } = source();
    let end: (value: number) => void = () => undefined;
    state.answer = () => new Promise((resolve) => (end = resolve));
    expect(await reading.latest()).toBeUndefined();
    now += 60_000;
    expect(await reading.latest()).toBeUndefined();
    expect(state.asked).toBe(1);
    end(7);
    await new Promise(setImmediate);
    state.answer = async () => 8;
    expect(await reading.latest()).toBe(8);
  });
});
