// Runs a temporary PostgreSQL server for the benchmark and the tests. It has its own folder and port and ends with its owner.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { untilTrue } from './until.mjs';

/** The standby's name in `synchronous_standby_names`. */
export const STANDBY_NAME = 'standby';
const DEBIAN_VERSIONS = '/usr/lib/postgresql';
const START_ATTEMPTS = 5;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const PROBE_INTERVAL_MS = 50;
/** Another program may have taken the port and may never respond. */
const PROBE_TIMEOUT_MS = 2_000;
const LOG_TAIL_CHARACTERS = 4_000;

/**
 * The settings for tests, whose data need not survive a crash of the machine.
 *
 * If a client stops responding during authentication, DROP DATABASE waits until `authentication_timeout` ends its session.
 * With PostgreSQL's default of 60 seconds, tests of silent networks would delay other tests.
 */
export const TEST_SETTINGS = {
  max_connections: '200',
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'on',
  authentication_timeout: '10s',
};

/**
 * Standard input is a pipe that the owner holds open. When the owner ends for any reason, the pipe closes. The server then
 * stops (SIGINT: fast shutdown), and its files are removed. Descriptor 3 keeps the pipe, because a shell gives background
 * commands an empty standard input. The signal is repeated, because a starting server ignores it.
 */
const GUARDED_SERVER = `
exec 3<&0 </dev/null
trap 'rm -rf "$FOLDER"' EXIT
if [ -n "$PRIMARY" ]; then
  "$BASE_BACKUP" --dbname="$PRIMARY" --pgdata="$FOLDER/cluster" --write-recovery-conf \
    --wal-method=stream --checkpoint=fast --no-sync 3<&- || exit 1
else
  "$BINARIES/initdb" --pgdata="$FOLDER/cluster" --username=owner --pwfile="$FOLDER/password" \
    --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 --no-sync 3<&- || exit 1
fi
"$BINARIES/postgres" -D "$FOLDER/cluster" -p "$PORT" -k "$FOLDER" -c listen_addresses=127.0.0.1 $SETTINGS 3<&- &
server=$!
{ read -r _ <&3; while kill -INT "$server" 2>/dev/null; do sleep 0.2; done; } &
guard=$!
wait "$server"
kill "$guard" 2>/dev/null
`;

/** The PostgreSQL server programs are not on this machine. The message says which were not found. */
export class PostgresMissingError extends Error {
  name = 'PostgresMissingError';
}

export class PostgresServer {
  log = '';

  /** @param primary the primary, if this server is a standby */
  constructor(port, settings, primary) {
    const binaries = findBinaries();
    const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
    const password = primary?.password ?? randomBytes(16).toString('hex');
    this.password = password;
    this.port = port;
    this.address = `postgres://owner:${password}@127.0.0.1:${port}`;
    this.folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
    const passwordFile = join(this.folder, 'password');
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (account !== undefined)
      for (const path of [this.folder, passwordFile]) chownSync(path, account.uid, account.gid);
    this.guard = spawn('/bin/sh', ['-c', GUARDED_SERVER], {
      ...account,
      cwd: this.folder,
      // The server has its own process group. Ctrl-C reaches only the owner, which then stops the server.
      detached: true,
      env: {
        PATH: process.env.PATH,
        BINARIES: binaries,
        FOLDER: this.folder,
        PORT: String(port),
        ...(primary !== undefined && {
          PRIMARY: primary.urlForStandby,
          BASE_BACKUP: findBaseBackup(binaries),
        }),
        SETTINGS: optionsOf(settings),
      },
    });
    this.readLog();
    this.letOwnerEnd();
  }

  /**
   * Creates a cluster, starts it, and waits until it accepts connections.
   * @param freePort finds a port. Tests import it from the sources, and the benchmark from the build
   * @param settings server settings that replace PostgreSQL's defaults
   * @throws PostgresMissingError, or an Error with the end of the server's log if it does not start
   */
  static start(freePort, settings = {}) {
    return PostgresServer.startFrom(undefined, freePort, settings);
  }

  /** Starts a read-only standby with a copy of the primary's cluster, which it then follows. */
  static startStandby(primary, freePort, settings = {}) {
    return PostgresServer.startFrom(primary, freePort, settings);
  }

  static async startFrom(primary, freePort, settings) {
    for (let attempt = 1; ; attempt += 1) {
      const server = new PostgresServer(await freePort(), settings, primary);
      try {
        await server.becomesReady();
        return server;
      } catch (error) {
        await server.stop();
        // Another process can take the free port before the server starts.
        if (attempt === START_ATTEMPTS || !server.log.includes('Address already in use')) throw error;
      }
    }
  }

  /** The URL of the maintenance database, for a superuser. */
  get url() {
    return this.urlOf('postgres');
  }

  /** The primary identifies its standby by the application name in this URL. */
  get urlForStandby() {
    return `${this.address}/postgres?application_name=${STANDBY_NAME}`;
  }

  /** The id of the guarding shell. All server processes descend from it, and it leads their group. */
  get processId() {
    return this.guard.pid ?? 0;
  }

  get isRunning() {
    return this.guard.pid !== undefined && this.guard.exitCode === null && this.guard.signalCode === null;
  }

  /** @param settings the settings of every session that this URL opens */
  urlOf(database, settings = {}) {
    const options = optionsOf(settings);
    const query = options && `?options=${encodeURIComponent(options)}`;
    return `${this.address}/${database}${query}`;
  }

  /** Runs one statement and returns its rows. */
  query(database, text, values = []) {
    return this.inSession(database, async (client) => (await client.query(text, values)).rows);
  }

  /** Runs `work` with one connection. @param settings the session's settings */
  async inSession(database, work, settings, connectionTimeoutMillis) {
    const connectionString = this.urlOf(database, settings);
    const client = new Client({ connectionString, connectionTimeoutMillis });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await work(client);
    } finally {
      await client.end();
    }
  }

  /** Records the server's log from now on. @returns a function that stops recording and returns the log */
  recordLog() {
    let text = '';
    const record = (part) => (text += part);
    this.guard.stderr.on('data', record);
    return () => {
      this.guard.stderr.off('data', record);
      return text;
    };
  }

  /** Sends a signal to all server processes at once, to simulate a machine that fails or freezes. */
  signal(name) {
    process.kill(-this.processId, name);
  }

  /** Ends all processes of the server at once. Its folder stays until `stop`. */
  async kill() {
    const sharedMemory = this.sharedMemoryId();
    this.signal('SIGKILL');
    while (this.isRunning) await delay(PROBE_INTERVAL_MS);
    // The system keeps shared memory for a restart, which does not happen here.
    if (sharedMemory !== undefined) spawnSync('ipcrm', ['-m', sharedMemory], { stdio: 'ignore' });
  }

  /** Stops the server (fast shutdown: open transactions are rolled back) and removes its folder. */
  async stop() {
    this.guard.stdin.end();
    // A paused server would not react.
    if (this.isRunning) this.signal('SIGCONT');
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (this.isRunning && Date.now() < deadline) await delay(PROBE_INTERVAL_MS);
    if (this.isRunning) this.signal('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The id is the last number in line 7 of postmaster.pid. */
  sharedMemoryId() {
    const lines = readFileSync(join(this.folder, 'cluster', 'postmaster.pid'), 'utf8').split('\n');
    return lines[6]?.trim().split(/ +/).at(-1);
  }

  async becomesReady() {
    const failure = () => `The PostgreSQL server did not start:\n${this.log}`;
    const ask = () => {
      if (!this.isRunning) throw new Error(failure());
      return this.takesConnections();
    };
    await untilTrue(START_TIMEOUT_MS, failure, ask);
  }

  async takesConnections() {
    try {
      await this.inSession('postgres', (client) => client.query('SELECT 1'), {}, PROBE_TIMEOUT_MS);
      return true;
    } catch {
      return false;
    }
  }

  readLog() {
    const keep = (text) => (this.log = (this.log + text).slice(-LOG_TAIL_CHARACTERS));
    for (const stream of [this.guard.stdout, this.guard.stderr]) stream.setEncoding('utf8').on('data', keep);
    this.guard.on('error', ({ message }) => keep(message));
    // The shell may have exited before its input is closed.
    this.guard.stdin.on('error', () => undefined);
  }

  letOwnerEnd() {
    const { guard } = this;
    for (const held of [guard, guard.stdin, guard.stdout, guard.stderr]) held.unref();
  }
}

/**
 * The folder with `initdb` and `postgres`. If POSTGRES_BIN is set, only that folder is tried; else PATH, then Debian's newest version.
 * @throws PostgresMissingError if there is none
 */
export function findBinaries({ POSTGRES_BIN: chosen, PATH: path = '' } = process.env) {
  const candidates = chosen ? [chosen] : [...path.split(delimiter).filter(Boolean), ...debianFolders()];
  const found = candidates.find((folder) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
  );
  if (found !== undefined) return found;
  throw new PostgresMissingError(
    `PostgreSQL server binaries were not found${chosen ? ' in POSTGRES_BIN' : ''}; ` +
      'on Debian: apt-get install -y postgresql',
  );
}

/** Searches the server's folder and the target of its symbolic link, because the version must be the same. */
function findBaseBackup(binaries) {
  const folders = [binaries, dirname(realpathSync(join(binaries, 'postgres')))];
  const found = folders.map((folder) => join(folder, 'pg_basebackup')).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new PostgresMissingError(`pg_basebackup was not found in ${folders.join(' or ')}`);
}

function debianFolders() {
  if (!existsSync(DEBIAN_VERSIONS)) return [];
  const versions = readdirSync(DEBIAN_VERSIONS).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(DEBIAN_VERSIONS, version, 'bin'));
}

/** The settings as command-line options for the server and its sessions. */
function optionsOf(settings) {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

/** An account for the server, because PostgreSQL refuses to run as root. */
function unprivilegedAccount() {
  const account = accountOf('postgres') ?? accountOf('nobody');
  if (account !== undefined) return account;
  throw new Error('PostgreSQL does not run as root, and no other account was found.');
}

function accountOf(name) {
  const ask = (option) => Number(execFileSync('id', [option, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return undefined;
  }
}
