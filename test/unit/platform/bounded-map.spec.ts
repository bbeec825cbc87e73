// Checks that the map keeps its bound, and what it forgets for that.
import { BoundedMap } from '../../../src/platform/bounded-map.js';

it('[D19] never holds more than its bound, however many keys are set', () => {
  const map = new BoundedMap<number>(1_000);
  const sizes = Array.from({ length: 10_000 }, (_, count) => map.set(`client ${count}`, count).size);
  expect(Math.max(...sizes)).toBe(1_000);
});

it('[D19] forgets the oldest; a key that is set again is new', () => {
  const map = new BoundedMap<number>(4);
  for (const key of ['a', 'b', 'c', 'a', 'd', 'e']) map.set(key, 1);
  expect([...map.keys()]).toEqual(['c', 'a', 'd', 'e']);
});
