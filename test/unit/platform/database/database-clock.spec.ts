// Whose time a command writes down.
import { DatabaseClock } from '../../../../src/platform/database/database-clock.js';

const databaseAt = (ms: number) =>
  ({ query: () => Promise.resolve([{ ms }]) }) as unknown as Parameters<typeof DatabaseClock.of>[0];

describe('[D59] the command clock', () => {
  it.each([-300_000, 0, 300_000])("follows the database, %d ms from the machine's clock", async (aheadMs) => {
    const clock = await DatabaseClock.of(databaseAt(Date.now() + aheadMs));
    // A busy machine may take its time between two looks at a clock.
    expect(Math.abs(clock.nowMs() - Date.now() - aheadMs)).toBeLessThan(60_000);
    expect(Math.abs(clock.now().getTime() - clock.nowMs())).toBeLessThan(60_000);
  });
});
