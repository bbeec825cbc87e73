// Random numbers that a seed repeats, so that a failing round can be run again.

export interface Random {
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number;
  pick<T>(list: readonly T[]): T;
}

/** mulberry32: small, and random enough to shuffle tests. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: (list) => {
      const one = list[below(list.length)];
      if (one === undefined) throw new Error('nothing to pick from');
      return one;
    },
  };
}
