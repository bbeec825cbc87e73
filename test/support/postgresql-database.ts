// Makes fresh databases on the run's PostgreSQL server, as copies of one that is migrated once per run.
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { SCHEMA } from '../../src/instance/schema.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import type { FreshDatabase } from './databases.js';

const TEMPLATE = 'migrated_template';
/** Lets one test file at a time look for the template and make it. */
const TEMPLATE_LOCK = 815_001;
const POOL_SIZE = 10;

/** @throws Error when the run has no server because the test file lies outside the folders that get one */
export async function createPostgresqlDatabase(): Promise<FreshDatabase> {
  const name = randomName();
  await onServer(async (server) => {
    await ensureTemplate(server);
    await server.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  });
  return {
    settings: { kind: 'postgresql', url: urlOf(name), poolSize: POOL_SIZE },
    environment: { SVC_DATABASE_URL: urlOf(name), SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64') },
    // FORCE: a process that a failing test left running must not keep the database.
    remove: () => onServer(async (server) => void (await server.query(`DROP DATABASE ${name} WITH (FORCE)`))),
  };
}

/** The lock ends with the connection. The template gets its name last: under that name it is always complete. */
async function ensureTemplate(server: Client): Promise<void> {
  await server.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [TEMPLATE]);
  if (rowCount === 0) await makeTemplate(server);
  await server.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
}

async function makeTemplate(server: Client): Promise<void> {
  const draft = randomName();
  await server.query(`CREATE DATABASE ${draft}`);
  const database = await openDatabase({ kind: 'postgresql', url: urlOf(draft), poolSize: 2 }, SCHEMA);
  await database.close();
  await server.query(`ALTER DATABASE ${draft} RENAME TO ${TEMPLATE}`);
}

async function onServer(work: (server: Client) => Promise<void>): Promise<void> {
  const server = new Client({ connectionString: serverUrl() });
  await server.connect();
  try {
    await work(server);
  } finally {
    await server.end();
  }
}

function urlOf(databaseName: string): string {
  const url = new URL(serverUrl());
  url.pathname = databaseName;
  return url.href;
}

function serverUrl(): string {
  const url = process.env['TEST_POSTGRES_URL'];
  if (url !== undefined) return url;
  throw new Error(
    'No PostgreSQL server was started for this file: see the folders in test/support/global-setup.ts.',
  );
}

function randomName(): string {
  return `test_${randomBytes(8).toString('hex')}`;
}
