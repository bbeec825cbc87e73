// Replay records that expire one after the other, as a steady number of exchanges a second leaves them behind.
import { setTimeout as pause } from 'node:timers/promises';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';

const PAUSE_MS = 100;

export class ExpiringRecords {
  added = 0;
  private isEnding = false;
  private readonly startedAt = performance.now();
  private readonly adding: Promise<void>;

  /** Begins at once. @param perSecond how many records expire in a second */
  constructor(
    private readonly database: OpenDatabase,
    private readonly perSecond: number,
  ) {
    this.adding = this.add();
    // `end` tells of a failure.
    this.adding.catch(() => undefined);
  }

  /** How many of them are in the table. */
  async present(): Promise<number> {
    const [row] = await this.database.dataSource.query<{ count: number }[]>(
      "SELECT count(*)::int AS count FROM token_exchange_used_jti WHERE expires_at < now() - interval '1 hour'",
    );
    return row?.count ?? Number.NaN;
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await this.adding;
  }

  /** What a slow moment has kept back comes with the next statement. */
  private async add(): Promise<void> {
    while (!this.isEnding) {
      const due = Math.floor(((performance.now() - this.startedAt) * this.perSecond) / 1000) - this.added;
      await this.database.dataSource.query(
        `INSERT INTO token_exchange_used_jti
         SELECT gen_random_uuid(), now() - interval '2 hours' FROM generate_series(1, $1)`,
        [due],
      );
      this.added += due;
      await pause(PAUSE_MS);
    }
  }
}
