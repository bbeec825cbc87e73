// Which addresses count as one client, and the counters in memory: their windows, edges and bounds.
import { clientOf, MemoryCounts, NO_LIMIT } from '../../../../../src/platform/http/throttle/rate-limit.js';
import { TestClock } from '../../../../support/test-clock.js';

describe('[D19] the client key', () => {
  it.each([
    ['an IPv4 address', '203.0.113.9', '203.0.113.9'],
    ['IPv4 mapped into IPv6', '::ffff:203.0.113.9', '203.0.113.9'],
    ['the same in hexadecimal', '::ffff:cb00:7109', '203.0.113.9'],
    ['an IPv6 address: its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['another of the same /64, in capitals', '2001:DB8:1:2:FFFF::1', '2001:db8:1:2::/64'],
    ['one of the next /64', '2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['one with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['IPv4 with the port that a proxy added', '203.0.113.9:4711', '203.0.113.9'],
    ['IPv6 with the port that a proxy added', '[2001:db8:1:2::7]:4711', '2001:db8:1:2::/64'],
  ])('for %s', (_, address, client) => {
    expect(clientOf(address)).toBe(client);
  });

  it.each(['', 'unknown', '_hidden', '1.2.3.4.5', '[::1', '2001:db8::1:4711:x', 'a'.repeat(300)])(
    'is the same for all invalid addresses: %j',
    (text) => expect(clientOf(text)).toBe('unknown'),
  );
});

const MINUTE_MS = 60_000;
const LIMIT = 20;

describe('[D19] the in-memory throttle storage', () => {
  let clock: TestClock;
  let storage: MemoryCounts;

  beforeEach(() => {
    clock = new TestClock();
    storage = new MemoryCounts(clock);
  });

  const KEY = 'embed 203.0.113.9';
  const hit = (limit = LIMIT, key = KEY) => storage.increment(key, MINUTE_MS, limit);
  const refund = (ageMs = 0) => storage.refund(KEY, MINUTE_MS, ageMs);
  const hitTimes = async (times: number) => {
    for (let count = 0; count < times; count++) await hit();
  };

  it('[D19] allows the 20th hit and refuses the 21st, with the time to retry', async () => {
    await hitTimes(19);
    expect(await hit()).toEqual({ totalHits: 20, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 });
    expect(await hit()).toEqual({ totalHits: 21, timeToExpire: 60, isBlocked: true, timeToBlockExpire: 60 });
  });

  it('[D19] counts each key separately', async () => {
    await hitTimes(21);
    for (const key of ['exchange 203.0.113.9', 'embed 203.0.113.10'])
      expect(await hit(LIMIT, key)).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('[D19] refuses until the window of the first hit ends, and no longer', async () => {
    await hitTimes(1);
    clock.advance(59.5);
    await hitTimes(20);
    clock.advance(0.499);
    expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 });
    clock.advance(0.001);
    expect(await hit()).toEqual({ totalHits: 1, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 });
  });

  it.each([-3600, -60, 60, 3600])('[D97] is not affected by a clock change of %d s', async (seconds) => {
    await hitTimes(20);
    clock.setBack(-seconds);
    expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 60 });
    clock.advance(60);
    expect(await hit()).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('[P.perMinute] refunds one hit at a time, and only counted ones', async () => {
    await refund();
    await hit();
    await hit();
    await refund();
    expect(await hit()).toMatchObject({ totalHits: 2 });
    for (let times = 0; times < 5; times++) await refund();
    expect(await hit()).toMatchObject({ totalHits: 1 });
  });

  it('[P.perMinute] does not count refused hits: each refund allows one more', async () => {
    for (let times = 0; times < 3; times++) await hit(2);
    expect(await hit(2)).toMatchObject({ totalHits: 3, isBlocked: true });
    await refund();
    expect(await hit(2)).toMatchObject({ totalHits: 2, isBlocked: false });
    expect(await hit(2)).toMatchObject({ isBlocked: true });
  });

  it('[P.perMinute] always counts a hit without a limit', async () => {
    for (let times = 0; times < 4; times++) await hit(NO_LIMIT);
    await refund();
    expect(await hit(2)).toMatchObject({ totalHits: 4, isBlocked: true });
  });

  it('[P.perMinute] refunds no hit from before the current window', async () => {
    await hit();
    clock.advance(60);
    await hit();
    clock.advance(2);
    await refund(2_001);
    expect(await hit()).toMatchObject({ totalHits: 2 });
    await refund(2_000);
    expect(await hit()).toMatchObject({ totalHits: 2 });
  });

  it('[D19] stores 100,000 keys, and drops the least recently hit one for another', async () => {
    const others = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => hit(LIMIT, `${count} ${index}`)));
    await hit(LIMIT, 'earlier');
    await hit();
    await others(99_998);
    expect(await hit()).toMatchObject({ totalHits: 2 });
    await others(1);
    expect(await hit()).toMatchObject({ totalHits: 3 });
    expect(await hit(LIMIT, 'earlier')).toMatchObject({ totalHits: 1 });
  });
});
