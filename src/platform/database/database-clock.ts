// The database's clock, for processes whose own clock may differ from it.
import type { DataSource } from 'typeorm';
import { Clock } from '../clock.js';

/**
 * Times that a command writes (a revocation, a sign-out) are compared with the clocks of instances. The
 * operator synchronizes those with the database. The clock of a laptop may be off.
 */
export class DatabaseClock extends Clock {
  private constructor(private readonly aheadMs: number) {
    super();
  }

  static async of(dataSource: Pick<DataSource, 'query'>): Promise<DatabaseClock> {
    const [row] = await dataSource.query<{ ms: number }[]>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    );
    return new DatabaseClock((row?.ms ?? Date.now()) - Date.now());
  }

  override nowMs(): number {
    return Date.now() + this.aheadMs;
  }
}
