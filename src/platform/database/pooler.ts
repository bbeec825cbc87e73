// What the service needs of PostgreSQL and of a pooler before it, such as PgBouncer: a version, and sessions that last.
import type { ClientConfig } from 'pg';
import pg from 'pg';
import { StartError } from '../start-error.js';

const CONNECTION_MS = 10_000;
const ANSWER_MS = 15_000;
/** One round is enough, unless others use the pooler at the same moment and in step. */
const ROUNDS = 3;

/** A process of the server has a start as well as a number: two servers may have processes of the same number. */
const BACKEND = `SELECT concat_ws(' ', pid, extract(epoch FROM backend_start)) AS backend FROM pg_stat_activity WHERE pid = pg_backend_pid()`;

/** The pooler gives out connections for a transaction at a time. */
const TRANSACTION_POOLER =
  'SVC_DATABASE_URL leads to a pooler that lends a connection for one transaction at a time, and the service needs sessions: ' +
  'set pool_mode = session for this database (PgBouncer), or lead SVC_DATABASE_URL to another pool or to PostgreSQL itself.';

/** The first with `idle_session_timeout`, which ends the session of a leader that has stopped (D94). */
const OLDEST_VERSION = 14;

/**
 * @param versionNumber as the setting `server_version_num` has it: 140005 is 14.5
 * @throws StartError for one that is too old
 */
export function checkVersion(versionNumber: number): void {
  const version = Math.floor(versionNumber / 10_000);
  if (version >= OLDEST_VERSION) return;
  throw new StartError(
    `SVC_DATABASE_URL leads to PostgreSQL ${version}, and the service needs PostgreSQL ${OLDEST_VERSION} or newer.`,
  );
}

/**
 * Finds out whether connections are sessions, by two that are open at the same time: each has a process of the server for itself
 * then, and keeps it. A pooler that lends connections for transactions lends the same one to both, or another one the next time,
 * in whichever order it takes them. So no server without such a pooler is ever taken for one.
 * @rule D96 Behind a pooler that keeps no sessions the start is refused, with what to set.
 * @throws StartError, also where the server is too old; or the driver's error
 */
export async function requireSessions(connection: ClientConfig): Promise<void> {
  const [one, other] = [clientOf(connection), clientOf(connection)];
  try {
    await one.connect();
    await other.connect();
    checkVersion(await versionNumberOf(one));
    const [ofOne, ofOther] = [await backendOf(one), await backendOf(other)];
    for (let round = 0; round < ROUNDS; round += 1) {
      // Twice, since of two that wait for work the pooler may take turns.
      const seen = [await backendOf(one), await backendOf(one), await backendOf(other), await backendOf(one)];
      const expected = [ofOne, ofOne, ofOther, ofOne];
      if (ofOne === ofOther || seen.join() !== expected.join()) throw new StartError(TRANSACTION_POOLER);
    }
  } finally {
    await Promise.allSettled([one.end(), other.end()]);
  }
}

function clientOf(connection: ClientConfig): pg.Client {
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: CONNECTION_MS,
    query_timeout: ANSWER_MS,
    application_name: 'embedded-token-exchange start',
  });
  // A lost connection fails the statement that runs; without a listener it would end the process.
  client.on('error', () => undefined);
  return client;
}

async function versionNumberOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    `SELECT current_setting('server_version_num')::int AS version`,
  );
  return rows[0]?.version ?? 0;
}

async function backendOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ backend: string }>(BACKEND);
  return rows[0]?.backend ?? '';
}
