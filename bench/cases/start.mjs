// Measures how long the built service takes from the start of its process to its first answers.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { URL, fileURLToPath } from 'node:url';
import pg from 'pg';

const SERVICE = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
/** What is waited for: that the process answers at all, and that it says that traffic makes sense. */
const ANSWERS = { healthzMs: '/healthz', readinessMs: '/healthz/readiness' };
/** A refused connection costs next to nothing, so that asking this often does not slow down what is measured. */
const ASK_EVERY_MS = 2;
const LONGEST_START_MS = 60_000;
const SHOWN_OUTPUT_CHARACTERS = 2_000;

/**
 * Starts the service again and again, on each database once cold (it is empty: every migration runs, and the embedded
 * engine makes its files) and once warm (an earlier start has left it ready). The situations take turns, so that a
 * busy moment of the machine meets all of them. The file cache of the operating system is warm throughout.
 * @param options.rounds starts of each situation
 * @param options.databaseUrl a PostgreSQL database whose user may create and drop others; without it only the embedded
 *   database is measured
 * @param options.embeddedDirectory where the folders of embedded databases are made, and removed again
 * @param options.environment the service's variables beside port, addresses and database: licence, flags, keys
 * @returns for each situation `{ healthzMs, readinessMs }`, each with median, least and greatest milliseconds
 */
export async function measureStart({ rounds, databaseUrl, embeddedDirectory, environment }) {
  const databases = [embeddedDatabases(embeddedDirectory)];
  if (databaseUrl !== undefined) databases.push(postgresqlDatabases(databaseUrl));
  const situations = databases.flatMap(({ kind, create, drop }) => {
    const keep = { create, drop, environment: environmentWithKeys(environment) };
    return [coldSituation(`cold ${kind}`, keep), warmSituation(`warm ${kind}`, keep)];
  });
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const situation of situations) situation.starts.push(await situation.run());
    }
  } finally {
    for (const { end } of situations) await end();
  }
  return Object.fromEntries(situations.map(({ name, starts }) => [name, summaryOf(starts)]));
}

/** A new database for each start. */
function coldSituation(name, { create, drop, environment }) {
  const run = async () => {
    const database = await create();
    try {
      return await timeStart({ ...environment, ...database.environment });
    } finally {
      await drop(database);
    }
  };
  return { name, starts: [], run, end: async () => undefined };
}

/** One database for all starts; the start that fills it is not counted. */
function warmSituation(name, { create, drop, environment }) {
  let database;
  const run = async () => {
    if (database === undefined) {
      database = await create();
      await timeStart({ ...environment, ...database.environment });
    }
    return timeStart({ ...environment, ...database.environment });
  };
  return { name, starts: [], run, end: async () => database && drop(database) };
}

function embeddedDatabases(parent) {
  const create = async () => {
    await mkdir(parent, { recursive: true });
    const name = await mkdtemp(join(parent, 'start-'));
    return { name, environment: { SVC_DATA_DIR: name } };
  };
  return { kind: 'embedded', create, drop: ({ name }) => rm(name, { recursive: true }) };
}

function postgresqlDatabases(maintenanceUrl) {
  const create = async () => {
    const name = `start_${randomBytes(6).toString('hex')}`;
    await execute(maintenanceUrl, `CREATE DATABASE ${name}`);
    const url = new URL(maintenanceUrl);
    url.pathname = `/${name}`;
    return { name, environment: { SVC_DATABASE_URL: url.href } };
  };
  const drop = ({ name }) => execute(maintenanceUrl, `DROP DATABASE ${name} WITH (FORCE)`);
  return { kind: 'PostgreSQL', create, drop };
}

async function execute(url, statement) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** One start, until both answers have come; then the service is stopped. */
async function timeStart(environment) {
  const port = await freePort();
  const address = { SVC_HOST: '127.0.0.1', SVC_PORT: String(port), SVC_BASE_URL: `http://localhost:${port}` };
  const startedAtMs = performance.now();
  const service = spawn(process.execPath, [SERVICE], {
    // No .env file lies there.
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, ...environment, ...address },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(service, 'exit');
  const output = collect(service);
  try {
    const times = Object.entries(ANSWERS).map(async ([name, path]) => {
      await untilAnswered(`http://127.0.0.1:${port}${path}`, service, output);
      return [name, performance.now() - startedAtMs];
    });
    return Object.fromEntries(await Promise.all(times));
  } finally {
    service.kill('SIGTERM');
    await exited;
  }
}

function collect({ stdout, stderr }) {
  const output = { text: '' };
  for (const stream of [stdout, stderr])
    stream.setEncoding('utf8').on('data', (part) => (output.text += part));
  return output;
}

async function untilAnswered(url, service, output) {
  const deadlineMs = performance.now() + LONGEST_START_MS;
  while (!(await isAnswered(url))) {
    if (service.exitCode !== null || performance.now() > deadlineMs) {
      throw new Error(`The service did not start:\n${output.text.slice(-SHOWN_OUTPUT_CHARACTERS)}`);
    }
    await pause(ASK_EVERY_MS);
  }
}

function isAnswered(url) {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    request.on('error', () => resolve(false));
  });
}

/** PostgreSQL needs a sealing key; the same one for every start, so that a warm start can open what it finds. */
function environmentWithKeys(environment) {
  return { SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'), ...environment };
}

function summaryOf(starts) {
  const spread = (name) => {
    const values = starts.map((start) => start[name]).sort((one, other) => one - other);
    return { median: values[Math.floor(values.length / 2)], least: values[0], greatest: values.at(-1) };
  };
  return Object.fromEntries(Object.keys(ANSWERS).map((name) => [name, spread(name)]));
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
