// How long a request waits for its count in the database.
import type { DataSource } from 'typeorm';
import { Clock } from '../../../../../src/platform/clock.js';
import { Database } from '../../../../../src/platform/database/database.js';
import { DatabaseCounts } from '../../../../../src/platform/http/throttle/database-counts.js';
import { SILENT } from '../../../../../src/platform/log/log.js';

afterEach(() => jest.useRealTimers());

it('[D19] a request waits at most one second for its count, and then passes', async () => {
  jest.useFakeTimers();
  const dataSource = {
    options: { type: 'postgres' },
    logger: { logQuery: () => undefined },
    driver: { master: { connect: () => new Promise<never>(() => undefined) } },
  } as unknown as DataSource;
  const counts = new DatabaseCounts(new Database(dataSource), new Clock(), SILENT);
  const counted = jest.fn();
  void counts.hit('client', 60_000, 20).then(counted);
  await jest.advanceTimersByTimeAsync(999);
  expect(counted).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(counted).toHaveBeenCalledWith({ hits: 0, remainingMs: 60_000 });
});
