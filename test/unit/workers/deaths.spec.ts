// How often a worker has died lately.
import { Deaths } from '../../../src/workers/deaths.js';

describe('[D123] the deaths of workers', () => {
  it('are counted for each seat, within a minute', () => {
    const deaths = new Deaths();
    expect([0, 10_000, 20_000].map((atMs) => deaths.count(1, atMs))).toEqual([1, 2, 3]);
    expect(deaths.count(2, 20_000)).toBe(1);
    expect(deaths.count(1, 60_000)).toBe(3);
    expect(deaths.count(1, 200_000)).toBe(1);
  });
});
