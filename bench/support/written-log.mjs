// What exchanges write into the write-ahead log of PostgreSQL.
import { exchangeRequests } from './exchanges.mjs';
import { applyLoad } from './load.mjs';

/** Where the log ends, where it began after the last checkpoint, and the transactions so far, which asking does not add to. */
const STATE = `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS bytes,
  pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS transactions,
  (SELECT redo_lsn::text FROM pg_control_checkpoint()) AS checkpoint`;

/**
 * Sends so many exchanges.
 * @returns bytes an exchange, exchanges a statement, and whether a checkpoint began meanwhile, after which each page
 *   that is changed goes into the log whole, once. A statement is a transaction; the few others of the service count too
 */
export async function writtenBy({ postgres, partner }, contestant, { exchanges, connections }) {
  const { requests, ...kind } = exchangeRequests(contestant, partner, 'ES256');
  const load = { ...kind, requests: await requests(exchanges), connections };
  const state = async () => (await postgres.query('postgres', STATE))[0];
  const before = await state();
  await applyLoad({ ...load, origins: [contestant.server.origin] });
  const after = await state();
  return {
    bytes: Math.round((after.bytes - before.bytes) / exchanges),
    aStatement: exchanges / Math.max(1, after.transactions - before.transactions),
    hasCheckpoint: after.checkpoint !== before.checkpoint,
  };
}
