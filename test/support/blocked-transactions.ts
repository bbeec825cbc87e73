// Waits until one transaction stands in the way of another, as a test of two at once needs it.
import { until } from './until.js';

const PATIENCE_MS = 60_000;
/** Other databases of the server have waiting transactions of other tests. */
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** On PostgreSQL. @param rows by a connection that no transaction has: within one it is told of the others once */
export async function untilOneIsBlocked(rows: (sql: string) => Promise<unknown[]>): Promise<void> {
  await until('a transaction waits for another', PATIENCE_MS, async () => (await rows(WAITING)).length > 0);
}
