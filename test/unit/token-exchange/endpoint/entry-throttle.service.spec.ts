// The throttle by entry, with storages that can refund and one that cannot.
import type { ThrottlerStorage } from '@nestjs/throttler';
import { ThrottlerStorageService } from '@nestjs/throttler';
import type { RateLimited } from '../../../../src/platform/http/throttle/rate-limit.js';
import { MemoryCounts, TooManyRequestsError } from '../../../../src/platform/http/throttle/rate-limit.js';
import { createLogger } from '../../../../src/platform/log/logger.js';
import type {
  CountedRequest,
  CountedTokens,
} from '../../../../src/token-exchange/endpoint/entry-throttle.service.js';
import { EntryThrottleService } from '../../../../src/token-exchange/endpoint/entry-throttle.service.js';
import type { Flow } from '../../../../src/token-exchange/endpoint/flows.js';
import type { TrustPolicy } from '../../../../src/token-exchange/trust/trusted-key.js';
import { TestClock } from '../../../support/test-clock.js';

const MINUTE_MS = 60_000;
const ADDRESS = 'exchange 203.0.113.9';
const ADDRESS_LIMIT = 20;
const entryKey = (index: number) => `entry [${index},"entry-${index}","https://i.example"]`;
const token = (entryIndex: number, perMinute?: number) => {
  const policy: TrustPolicy = {
    entryIndex,
    label: `entry-${entryIndex}`,
    issuer: 'https://i.example',
    perMinute,
  };
  return { key: { policy } };
};
const succeed = (): Promise<RateLimited> => Promise.resolve({});
const fail = (): Promise<RateLimited> => Promise.reject(new Error('replayed'));

describe('[P.perMinute] the entry throttle', () => {
  let clock: TestClock;
  let storage: MemoryCounts;
  let throttle: EntryThrottleService;
  let logLines: string[];

  const withStorage = (one: ThrottlerStorage) => {
    logLines = [];
    const logger = createLogger('warn', { write: (line) => void logLines.push(line) });
    return new EntryThrottleService(one, clock, logger, new MemoryCounts(clock));
  };
  beforeEach(() => {
    clock = new TestClock();
    clock.advance(1);
    storage = new MemoryCounts(clock);
    throttle = withStorage(storage);
  });

  /** Calls the throttle in the order of the guards and the flow. */
  const counted = async <T extends object>(
    tokens: CountedTokens,
    work: () => Promise<T>,
    flow: Flow = 'exchange',
  ): Promise<T & RateLimited> => {
    const arrivedAtMs = clock.monotonicMs();
    const request: CountedRequest = { flow, clientAddress: '203.0.113.9', arrivedAtMs, hits: undefined };
    const rateLimit = await throttle.count(request, tokens);
    try {
      const result = await work();
      return rateLimit === undefined ? result : { ...result, rateLimit };
    } catch (error) {
      await throttle.undo(request);
      throw error;
    }
  };
  /** The hits of a key so far. This call adds none, because the limit is 0. */
  const hitsOf = async (key: string) => (await storage.increment(key, MINUTE_MS, 0)).totalHits - 1;
  const arrive = () => storage.increment(ADDRESS, MINUTE_MS, ADDRESS_LIMIT);

  it('[P.perMinute] ignores entries without a limit', async () => {
    await arrive();
    const result = {};
    const tokens = { subject: token(0), actor: token(1) };
    expect(await counted(tokens, () => Promise.resolve(result))).toBe(result);
    await expect(counted(tokens, fail)).rejects.toThrow('replayed');
    expect([await hitsOf(ADDRESS), await hitsOf(entryKey(0)), logLines]).toEqual([1, 0, []]);
  });

  it("[P.perMinute] refunds the address before the work, and reports the entry's limit", async () => {
    await arrive();
    const subject = token(0, 5);
    const result = await counted<RateLimited & { hits?: number }>({ subject }, async () => ({
      hits: await hitsOf(ADDRESS),
    }));
    expect(result).toEqual({ hits: 0, rateLimit: { limit: 5, remaining: 4, resetSeconds: 60 } });
    expect(await hitsOf(entryKey(0))).toBe(1);
  });

  it('[P.perMinute] charges a failed request to the address instead of the entry', async () => {
    await arrive();
    await expect(counted({ subject: token(0, 5) }, fail)).rejects.toThrow('replayed');
    expect([await hitsOf(ADDRESS), await hitsOf(entryKey(0))]).toEqual([1, 0]);
  });

  it('[P.perMinute] charges the address even if others have used up its limit meanwhile', async () => {
    await arrive();
    const work = async () => {
      for (let hit = 0; hit < ADDRESS_LIMIT; hit++) await arrive();
      return fail();
    };
    await expect(counted({ subject: token(0, 5) }, work)).rejects.toThrow('replayed');
    expect(await hitsOf(ADDRESS)).toBe(ADDRESS_LIMIT + 1);
  });

  it.each<[Flow, number]>([
    ['exchange', 0],
    ['id-jag', 0],
    ['jwt-bearer', 0],
    ['embed', 1],
  ])(
    '[P.perMinute] for the flow %s leaves %d hits of the address at the token endpoint',
    async (flow, hits) => {
      await arrive();
      await counted({ subject: token(0, 5) }, succeed, flow);
      expect(await hitsOf(ADDRESS)).toBe(hits);
    },
  );

  it('[D130] counts logouts only by issuer', async () => {
    await throttle.countOf('logout of', 'https://i.example', 1);
    await throttle.countOf('logout of', 'https://other.example', 1);
    clock.advance(15);
    const limit = { 'RateLimit-Limit': '1', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '45' };
    await expect(throttle.countOf('logout of', 'https://i.example', 1)).rejects.toMatchObject({
      ...{ retryAfterSeconds: 45, headers: { ...limit, 'Retry-After': '45' } },
    });
  });

  it('[P.perMinute] does not run a request above the limit, and leaves it charged to the address', async () => {
    const subject = token(0, 1);
    await counted({ subject }, succeed);
    clock.advance(15.5);
    await arrive();
    let hasRun = false;
    const refused = counted({ subject }, () => {
      hasRun = true;
      return succeed();
    });
    const error: unknown = await refused.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TooManyRequestsError);
    expect(error).toMatchObject({
      retryAfterSeconds: 45,
      headers: {
        'RateLimit-Limit': '1',
        'RateLimit-Remaining': '0',
        'RateLimit-Reset': '45',
        'Retry-After': '45',
      },
    });
    expect([hasRun, await hitsOf(ADDRESS)]).toEqual([false, 1]);
  });

  it.each([
    ['the actor', token(0, 9), token(1, 1)],
    ['the subject', token(0, 1), token(1, 9)],
  ])('[P.perMinute] counts neither entry if %s is over its limit', async (_, subject, actor) => {
    await counted({ subject, actor }, succeed);
    await expect(counted({ subject, actor }, succeed)).rejects.toThrow(TooManyRequestsError);
    const keys = [entryKey(0), entryKey(1)];
    expect(await Promise.all(keys.map(hitsOf))).toEqual([1, 1]);
  });

  it('[P.perMinute] reports the nearer of two limits', async () => {
    const done = counted({ subject: token(0, 5), actor: token(1, 9) }, succeed);
    expect((await done).rateLimit).toEqual({ limit: 5, remaining: 4, resetSeconds: 60 });
  });

  it.each([
    ['actor', { subject: token(0, 5), actor: token(1) }],
    ['subject', { subject: token(1), actor: token(0, 5) }],
  ])(
    '[P.perMinute] leaves a request charged to the address if the entry of the %s has no limit',
    async (_, parties) => {
      await arrive();
      expect(await counted(parties, succeed)).toEqual({});
      expect([await hitsOf(ADDRESS), await hitsOf(entryKey(0))]).toEqual([1, 1]);
      await expect(counted(parties, fail)).rejects.toThrow('replayed');
      expect([await hitsOf(ADDRESS), await hitsOf(entryKey(0))]).toEqual([1, 1]);
    },
  );

  it("[P.perMinute] refunds nothing if a host's storage cannot, and keeps the entry's limit", async () => {
    const plain = new ThrottlerStorageService();
    throttle = withStorage(plain);
    await plain.increment(ADDRESS, MINUTE_MS, 2, MINUTE_MS, 'default');
    const parties = { subject: token(0, 2) };
    expect(await counted(parties, succeed)).toEqual({});
    await expect(counted(parties, fail)).rejects.toThrow('replayed');
    await expect(counted(parties, succeed)).rejects.toThrow(TooManyRequestsError);
    const address = await plain.increment(ADDRESS, MINUTE_MS, 2, MINUTE_MS, 'default');
    expect(address).toMatchObject({ totalHits: 2, isBlocked: false });
    plain.onApplicationShutdown();
  });

  it("[P.perMinute] throws the work's error even if the host's storage fails afterwards", async () => {
    class Breaking extends MemoryCounts {
      isBroken = false;
      override increment(...hit: Parameters<MemoryCounts['increment']>) {
        return this.isBroken ? Promise.reject(new Error('no storage')) : super.increment(...hit);
      }
    }
    const breaking = new Breaking(clock);
    throttle = withStorage(breaking);
    const work = () => {
      breaking.isBroken = true;
      return fail();
    };
    await expect(counted({ subject: token(0, 5) }, work)).rejects.toThrow('replayed');
    expect(logLines).toHaveLength(1);
    expect(logLines[0]).toContain('a failed request is not counted by its address');
  });
});
