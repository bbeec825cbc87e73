// The database's clock, for processes whose own clock nobody keeps in step with it.
import type { DataSource } from 'typeorm';
import { Clock } from '../clock.js';

/**
 * Times that a command writes (a revocation, a sign-out) are compared with those of instances. The operator keeps their clocks in
 * step with the database's; that of a laptop agrees only by chance.
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
