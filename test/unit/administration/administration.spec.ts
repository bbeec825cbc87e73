// Whose time a command writes down.
import type { OpenDatabase } from '../../../src/platform/database/data-source.js';
import { DatabaseClock } from '../../../src/administration/administration.js';

const databaseAt = (ms: number) =>
  ({ dataSource: { query: () => Promise.resolve([{ ms }]) } }) as unknown as Pick<OpenDatabase, 'dataSource'>;

describe('[D59] the clock of commands', () => {
  it.each([-300_000, 0, 300_000])(
    'goes as the database says, %d ms from that of the machine',
    async (aheadMs) => {
      const clock = await DatabaseClock.of(databaseAt(Date.now() + aheadMs));
      // A busy machine may take its time between two looks at a clock.
      expect(Math.abs(clock.nowMs() - Date.now() - aheadMs)).toBeLessThan(60_000);
      expect(Math.abs(clock.now().getTime() - clock.nowMs())).toBeLessThan(60_000);
    },
  );
});
