// Waits until one transaction blocks another, for tests of concurrent transactions.
import { until } from './until.js';

const PATIENCE_MS = 60_000;
/** Other databases of the server have waiting transactions of other tests. */
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/**
 * It works on PostgreSQL only.
 * @param rows asks outside any transaction: inside one, `pg_stat_activity` stays as it was first read
 * @param waiting a part of the statement that waits
 */
export async function untilOneIsBlocked(
  rows: (sql: string) => Promise<unknown[]>,
  waiting = '',
): Promise<void> {
  const blocked = `${WAITING} AND query LIKE '%${waiting}%'`;
  await until('a transaction waits for another', PATIENCE_MS, async () => (await rows(blocked)).length > 0);
}
