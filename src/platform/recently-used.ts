import { LRUCache } from 'lru-cache';

/**
 * Creates a cache that drops the least recently used entries beyond `max`. The library's own `max` would allocate all
 * entries at once. For 100,000 entries that takes 13 ms and 1.6 MB at each start of the service.
 */
export function recentlyUsed<Value extends NonNullable<unknown>>(max: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}
