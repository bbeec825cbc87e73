// Checks the tests' own databases: each block has one to itself, and nothing is left of a server that has stopped.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { transformFileSync } from '@swc/core';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import {
  findBinaries,
  PostgresMissingError,
  PostgresServer,
  TEST_SETTINGS,
} from '../../bench/support/postgres-server.mjs';
import { freePort } from '../../demo/free-port.js';
import { readConfig } from '../../src/config/load-config.js';
import { MIGRATIONS } from '../../src/instance/schema.js';
import {
  databaseEnvironment,
  describeOnEachDatabase,
  describeOnPostgresql,
  TestDatabase,
} from '../support/databases.js';

const PROJECT = join(__dirname, '..', '..');
const SERVER_MODULE = join(PROJECT, 'bench', 'support', 'postgres-server.mjs');
/** Starts a server, prints its folder and stays. */
const OWNER = `
  const { freePort } = require('./free-port.cjs');
  import(process.argv[1])
    .then(({ PostgresServer, TEST_SETTINGS }) => PostgresServer.start(freePort, TEST_SETTINGS))
    .then(({ folder }) => console.log(folder));
  setTimeout(() => undefined, 60_000);
`;

describeOnEachDatabase('a database of the tests', (database) => {
  let other: TestDatabase;

  beforeAll(async () => {
    other = new TestDatabase(database.kind);
    await other.create();
  });
  afterAll(() => other.remove());

  it('is migrated and empty', async () => {
    const opened = await database.open();
    expect(await opened.dataSource.query('SELECT name FROM schema_migration')).toHaveLength(
      MIGRATIONS.length,
    );
    expect(await countUsedJtis(opened.dataSource)).toBe(0);
    await opened.close();
  });

  it('keeps what is written, and shows it to no other database', async () => {
    const first = await database.open();
    await first.dataSource.query(
      'INSERT INTO token_exchange_used_jti (jti_hash, expires_at) VALUES ($1, now())',
      [randomUUID()],
    );
    await first.close();
    expect(await countUsedJtis((await database.open()).dataSource)).toBe(1);
    expect(await countUsedJtis((await other.open()).dataSource)).toBe(0);
  });

  it('is what the configuration leads to', () => {
    const { config, problems } = readConfig([databaseEnvironment(database)]);
    expect(problems).toEqual([]);
    expect(config).toMatchObject(
      database.settings.kind === 'embedded'
        ? { databaseUrl: undefined, dataDirectory: database.settings.directory }
        : { databaseUrl: database.settings.url, encryptionKeys: [expect.any(Buffer)] },
    );
  });

  it('comes several at a time, and each goes away when it is removed', async () => {
    const databases = [1, 2, 3].map(() => new TestDatabase(database.kind));
    await Promise.all(databases.map((each) => each.create()));
    const settings = databases.map((each) => each.settings);
    await Promise.all(databases.map((each) => each.open()));
    await Promise.all(databases.map((each) => each.remove()));
    for (const each of settings) {
      if (each.kind === 'embedded') expect(existsSync(each.directory)).toBe(false);
      else await expect(query(each.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
    }
  });
});

describeOnPostgresql('a PostgreSQL server of the tests', () => {
  it('commits as in production and leaves no folder and no process when it is stopped', async () => {
    const server = await PostgresServer.start(freePort, TEST_SETTINGS);
    expect(await query(server.url, 'SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
    const processId = postmasterOf(server.folder);
    expect(isRunning(processId)).toBe(true);
    await server.stop();
    expect(existsSync(server.folder)).toBe(false);
    expect([processId, server.processId].filter(isRunning)).toEqual([]);
  });

  it('stops by itself when the process that started it is killed', async () => {
    const owner = await startInAnotherProcess();
    const processId = postmasterOf(owner.folder);
    expect(isRunning(processId)).toBe(true);
    owner.kill();
    await until(() => !isRunning(processId) && !existsSync(join(owner.folder, 'cluster')));
    // Emptied it is; only an account that may write to the temporary folder can take it out of there.
    rmSync(owner.folder, { recursive: true, force: true });
  });
});

describe('where no PostgreSQL server is installed', () => {
  it('the reason names what was looked for and what to install', () => {
    const look = () => findBinaries({ POSTGRES_BIN: join(tmpdir(), 'no-such-folder') });
    expect(look).toThrow(PostgresMissingError);
    expect(look).toThrow(
      'PostgreSQL server binaries were not found in POSTGRES_BIN; on Debian: apt-get install',
    );
  });
});

async function countUsedJtis(dataSource: DataSource): Promise<number> {
  const rows = await dataSource.query<unknown[]>('SELECT 1 FROM token_exchange_used_jti');
  return rows.length;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function postmasterOf(folder: string): number {
  return Number(readFileSync(join(folder, 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

/** Runs the support code itself in a plain Node process, which can be killed without killing the tests. */
async function startInAnotherProcess(): Promise<{ folder: string; kill(): void }> {
  const scripts = mkdtempSync(join(tmpdir(), 'svc-test-script-'));
  try {
    writeFileSync(join(scripts, 'free-port.cjs'), asCommonJs('demo/free-port.ts'));
    const owner = spawn(process.execPath, ['-e', OWNER, SERVER_MODULE], {
      cwd: scripts,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return { folder: await firstOutput(owner.stdout), kill: () => owner.kill('SIGKILL') };
  } finally {
    rmSync(scripts, { recursive: true });
  }
}

function asCommonJs(path: string): string {
  return transformFileSync(join(PROJECT, path), {
    module: { type: 'commonjs' },
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  }).code;
}

async function firstOutput(stream: AsyncIterable<Buffer>): Promise<string> {
  for await (const text of stream) return text.toString().trim();
  throw new Error('The process that was to start a server ended without one.');
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(50);
}
