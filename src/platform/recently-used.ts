import { LRUCache } from 'lru-cache';

/**
 * A cache that drops the least recently used entries beyond `max`. With the library's own `max` it would allocate all
 * entries at once: for 100,000 of them 13 ms and 1.6 MB at each start of the service.
 */
export function recentlyUsed<Value extends NonNullable<unknown>>(max: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}
