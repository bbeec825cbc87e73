// Runs a throw-away PostgreSQL server: Debian's programs, own folder, own port, gone when the benchmark is gone.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../dist/demo/free-port.js';

const DEBIAN_VERSIONS = '/usr/lib/postgresql';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const PROBE_INTERVAL_MS = 50;

/**
 * Standard input is a pipe that the benchmark holds open: it ends with the benchmark, however that dies, and then the
 * server stops (SIGINT: fast shutdown) and its files go. Descriptor 3 keeps the pipe, because a shell gives its
 * background commands an empty standard input. The signal is repeated, because a server that is just starting ignores it.
 *
 * The settings are PostgreSQL's own defaults: fsync, full_page_writes and synchronous_commit are on.
 */
const GUARDED_SERVER = `
exec 3<&0 </dev/null
trap 'rm -rf "$FOLDER"/*' EXIT
"$BINARIES/initdb" --pgdata="$FOLDER/cluster" --username=bench --pwfile="$FOLDER/password" \
  --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 --no-sync 3<&- || exit 1
"$BINARIES/postgres" -D "$FOLDER/cluster" -p "$PORT" -k "$FOLDER" -c listen_addresses=127.0.0.1 3<&- &
server=$!
{ read -r _ <&3; while kill -INT "$server" 2>/dev/null; do sleep 0.2; done; } &
guard=$!
wait "$server"
kill "$guard" 2>/dev/null
`;

export class PostgresServer {
  constructor({ port, password, folder, guard }) {
    this.port = port;
    this.password = password;
    this.folder = folder;
    this.guard = guard;
    this.ended = once(guard, 'close');
    this.log = '';
    for (const stream of [guard.stdout, guard.stderr])
      stream.setEncoding('utf8').on('data', (text) => (this.log = (this.log + text).slice(-4_000)));
    // The shell may be gone already when its input is ended.
    guard.stdin.on('error', () => undefined);
  }

  /** Starts the server; it is not ready yet. @param parentFolder in which the server makes a folder of its own */
  static async spawn(parentFolder) {
    const binaries = findBinaries();
    const folder = join(parentFolder, 'postgres');
    const account = process.getuid() === 0 ? unprivilegedAccount() : {};
    const password = randomBytes(16).toString('hex');
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'password'), password, { mode: 0o600 });
    giveAway([folder, join(folder, 'password')], account);
    const port = await freePort();
    const env = { PATH: process.env.PATH, BINARIES: binaries, FOLDER: folder, PORT: String(port) };
    // A group of its own: the interrupt key of a terminal reaches the benchmark only, which then stops the server.
    const guard = spawn('/bin/sh', ['-c', GUARDED_SERVER], { ...account, cwd: folder, detached: true, env });
    return new PostgresServer({ port, password, folder, guard });
  }

  /** @param settings of every session that is opened by this address */
  urlOf(database, settings = {}) {
    const url = `postgres://bench:${this.password}@127.0.0.1:${this.port}/${database}`;
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
    return options.length === 0 ? url : `${url}?options=${encodeURIComponent(options.join(' '))}`;
  }

  /** The process that all of the server's processes descend from. */
  get processId() {
    return Number(readFileSync(join(this.folder, 'cluster', 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  }

  /** Runs one statement and answers its rows. */
  query(database, text, values = []) {
    return this.inSession(database, async (client) => (await client.query(text, values)).rows);
  }

  /** Does some work on one connection. @param settings of its session */
  async inSession(database, work, settings) {
    const client = new pg.Client({ connectionString: this.urlOf(database, settings) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  /** Keeps all that the server logs from now on. @returns a function that ends this, and answers the text */
  recordLog() {
    let text = '';
    const record = (part) => (text += part);
    this.guard.stderr.on('data', record);
    return () => {
      this.guard.stderr.off('data', record);
      return text;
    };
  }

  /** Stops the server (open transactions are rolled back); its files go too. */
  async stop() {
    this.guard.stdin.end();
    const patience = setTimeout(() => process.kill(-this.guard.pid, 'SIGKILL'), STOP_TIMEOUT_MS);
    await this.ended;
    clearTimeout(patience);
  }

  async becomesReady() {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await this.takesConnections())) {
      if (this.guard.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${this.log}`);
      if (Date.now() > deadline) throw new Error(`PostgreSQL is not ready yet:\n${this.log}`);
      await delay(PROBE_INTERVAL_MS);
    }
  }

  async takesConnections() {
    try {
      await this.query('postgres', 'SELECT 1');
      return true;
    } catch {
      return false;
    }
  }
}

/** The folder of `initdb` and `postgres`: POSTGRES_BIN alone where it is set, else PATH, else Debian's newest. */
function findBinaries({ POSTGRES_BIN: chosen, PATH: path = '' } = process.env) {
  const candidates = chosen ? [chosen] : [...path.split(delimiter).filter(Boolean), ...debianFolders()];
  const found = candidates.find((folder) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
  );
  if (found !== undefined) return found;
  throw new Error('PostgreSQL server programs were not found; on Debian: apt-get install -y postgresql');
}

function debianFolders() {
  if (!existsSync(DEBIAN_VERSIONS)) return [];
  const versions = readdirSync(DEBIAN_VERSIONS).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(DEBIAN_VERSIONS, version, 'bin'));
}

/** PostgreSQL refuses to run as root. */
function unprivilegedAccount() {
  for (const name of ['postgres', 'nobody']) {
    try {
      const ask = (option) =>
        Number(execFileSync('id', [option, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: ask('-u'), gid: ask('-g') };
    } catch {
      // There is no such account: the next one.
    }
  }
  throw new Error('PostgreSQL does not run as root, and no other account was found.');
}

function giveAway(paths, { uid, gid }) {
  if (uid !== undefined) for (const path of paths) chownSync(path, uid, gid);
}
