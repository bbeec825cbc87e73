// Measures the bytes that exchanges write into PostgreSQL's write-ahead log.
import { exchangeRequests } from './exchanges.mjs';
import { sendAll } from './load.mjs';

/** The end of the log and the number of transactions so far. This query adds no transaction. */
const STATE = `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS bytes,
  pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS transactions`;

/**
 * Sends the given number of exchanges.
 * @returns bytes for each exchange and exchanges for each statement. Each transaction is one statement. The service's few other
 *   transactions are included
 */
export async function writtenBy({ postgres, partner }, contestant, { exchanges, connections }) {
  const state = async () => (await postgres.query('postgres', STATE))[0];
  const before = await state();
  await sendAll(contestant, exchangeRequests(contestant, partner), exchanges, connections);
  const after = await state();
  return {
    bytes: Math.round((after.bytes - before.bytes) / exchanges),
    aStatement: exchanges / Math.max(1, after.transactions - before.transactions),
  };
}
