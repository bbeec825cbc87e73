// The clock difference up to which tokens are accepted, its measurement, and its log lines.
import { EventEmitter } from 'node:events';
import type { DataSource } from 'typeorm';
import { Database } from '../../../../src/platform/database/database.js';
import { createLogger } from '../../../../src/platform/log/logger.js';
import { ClockDifference } from '../../../../src/token-exchange/replay/clock-difference.js';
import { TestClock } from '../../../support/test-clock.js';

const HOUR = 3_600;
const NOW_MS = Date.UTC(2026, 5, 1, 12);

describe('[D97] the clocks of an instance and its database', () => {
  let clock: TestClock;
  let databaseMs: number;
  let isAway: boolean;
  let difference: ClockDifference;
  let logged: unknown[];

  beforeEach(() => {
    jest.useFakeTimers();
    clock = new TestClock(NOW_MS - HOUR * 1_000);
    clock.advance(HOUR);
    [databaseMs, isAway, logged] = [NOW_MS, false, []];
    const query = async () =>
      isAway ? Promise.reject(new Error('away')) : { rows: [{ now: databaseMs / 1_000 }] };
    const logger = { logQuery: () => undefined };
    const client = Object.assign(new EventEmitter(), { query, release: () => undefined });
    const dataSource = {
      options: { type: 'postgres' },
      logger,
      driver: { master: { connect: () => Promise.resolve(client) } },
    } as unknown as DataSource;
    const write = (line: string) => {
      const { level, seconds } = JSON.parse(line) as { level: string; seconds?: number };
      logged.push(seconds === undefined ? [level] : [level, seconds]);
    };
    difference = new ClockDifference(new Database(dataSource), clock, createLogger('debug', { write }));
  });
  afterEach(async () => {
    await difference.beforeApplicationShutdown();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const setAheadMs = (ms: number) => clock.setBack(-ms / 1_000);

  it.each([1_800, -1_800])('[D97] may differ by %d s; more is refused and logged', async (seconds) => {
    await difference.onModuleInit();
    expect(difference.ensureSmall()).toBeUndefined();
    clock.advance(HOUR);
    databaseMs += HOUR * 1_000;
    setAheadMs(seconds * 1_000);
    expect([difference.isSmall, logged]).toEqual([true, []]);
    setAheadMs(Math.sign(seconds));
    for (let times = 0; times < 2; times++)
      expect(() => difference.ensureSmall()).toThrow(
        /clocks of the service and its database differ too much/,
      );
    expect(logged).toEqual([['error', seconds]]);
    setAheadMs(-Math.sign(seconds));
    expect([difference.isSmall, difference.isSmall]).toEqual([true, true]);
    expect(logged.slice(1)).toEqual([['info', seconds]]);
  });

  it('[D97] are compared on demand while unknown, and each minute because the database’s clock may change', async () => {
    isAway = true;
    await difference.onModuleInit();
    isAway = false;
    expect([difference.isSmall, logged]).toEqual([false, [['debug']]]);
    await jest.advanceTimersByTimeAsync(0);
    databaseMs += HOUR * 1_000;
    await jest.advanceTimersByTimeAsync(59_999);
    isAway = true;
    expect([difference.isSmall, logged.length]).toEqual([true, 1]);
    await jest.advanceTimersByTimeAsync(1);
    expect([difference.isSmall, logged.length]).toEqual([true, 2]);
    isAway = false;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(difference.isSmall).toBe(false);
  });
});
