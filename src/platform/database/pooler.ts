// Checks the requirements for PostgreSQL and for a pooler such as PgBouncer: a minimum version, and persistent sessions.
import type { ClientConfig } from 'pg';
import pg from 'pg';
import { StartError } from '../start-error.js';

const CONNECTION_MS = 10_000;
const ANSWER_MS = 15_000;
/** One round is enough, unless other clients happen to use the pooler in the same rhythm. */
const ROUNDS = 3;

/** Identifies a server process by pid and start time: two servers may have processes with the same pid. */
const BACKEND = `SELECT concat_ws(' ', pid, extract(epoch FROM backend_start)) AS backend FROM pg_stat_activity WHERE pid = pg_backend_pid()`;

/** The pooler lends connections for single transactions. */
const TRANSACTION_POOLER =
  'SVC_DATABASE_URL is the address of a pooler that lends a connection for one transaction at a time. The service needs sessions. ' +
  'Set pool_mode = session for this database (PgBouncer), or set SVC_DATABASE_URL to another pool or to PostgreSQL itself.';

/** The first version with `idle_session_timeout`, which ends the session of a stopped leader (D94). */
const OLDEST_VERSION = 14;

/**
 * @param versionNumber the setting `server_version_num`: 140005 is 14.5
 * @throws StartError if the version is too old
 */
export function checkVersion(versionNumber: number): void {
  const version = Math.floor(versionNumber / 10_000);
  if (version >= OLDEST_VERSION) return;
  throw new StartError(
    `SVC_DATABASE_URL is the address of PostgreSQL ${version}. The service needs PostgreSQL ${OLDEST_VERSION} or newer.`,
  );
}

/**
 * Checks that connections are sessions. Opens two at the same time: each must have its own server process and
 * keep it. A pooler that lends connections for transactions gives both the same process, or changes it. A
 * server without such a pooler always passes.
 * @rule D96 The start is refused behind a pooler that keeps no sessions. The message says what to set.
 * @throws StartError, also if the server is too old; or the driver's error
 */
export async function requireSessions(connection: ClientConfig): Promise<void> {
  const [one, other] = [clientOf(connection), clientOf(connection)];
  try {
    await one.connect();
    await other.connect();
    checkVersion(await versionNumberOf(one));
    const [ofOne, ofOther] = [await backendOf(one), await backendOf(other)];
    for (let round = 0; round < ROUNDS; round += 1) {
      // Asked twice, because the pooler may alternate between two waiting clients.
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
  // A lost connection fails the running statement. Without a listener it would end the process.
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
