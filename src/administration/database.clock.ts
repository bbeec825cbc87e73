// The time of the database, for commands that are typed on a machine whose clock nobody knows.
import type { OpenDatabase } from '../platform/database/data-source.js';
import { Clock } from '../platform/clock.js';

/**
 * What a command writes down (a revocation, a sign-out) is held against what instances have written. Their clocks agree with
 * the database's as far as the operator sees to it, and with that of a laptop only by chance.
 */
export class DatabaseClock extends Clock {
  private constructor(private readonly aheadMs: number) {
    super();
  }

  static async of({ dataSource }: Pick<OpenDatabase, 'dataSource'>): Promise<DatabaseClock> {
    const [row] = await dataSource.query<{ ms: number }[]>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    );
    return new DatabaseClock((row?.ms ?? Date.now()) - Date.now());
  }

  override nowMs(): number {
    return Date.now() + this.aheadMs;
  }
}
