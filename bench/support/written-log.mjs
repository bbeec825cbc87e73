// What exchanges write into the write-ahead log of PostgreSQL.
import { exchangeRequests } from './exchanges.mjs';
import { sendAll } from './load.mjs';

/** Where the log ends, and the transactions so far, which asking does not add to. */
const STATE = `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS bytes,
  pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS transactions`;

/**
 * Sends so many exchanges.
 * @returns bytes an exchange and exchanges a statement. A statement is a transaction; the few others of the service count too
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
