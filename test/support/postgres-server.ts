// Runs a throw-away PostgreSQL server for the tests: own folder, own port, gone when the tests are gone.
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

const START_ATTEMPTS = 5;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const PROBE_INTERVAL_MS = 50;
/** On a lost port somebody else may listen, who never answers. */
const PROBE_TIMEOUT_MS = 2_000;
const LOG_TAIL_CHARACTERS = 4_000;

/**
 * Standard input is a pipe that the test process holds open. It ends with that process, however it dies, and then
 * the server stops (SIGINT: fast shutdown) and its files go. Descriptor 3 keeps the pipe, because a shell gives
 * its background commands an empty standard input.
 *
 * A session whose client fell silent while it proved who it is keeps DROP DATABASE waiting, of any database, until
 * `authentication_timeout` ends it: tests of silent networks would hold others up for PostgreSQL's own 60 seconds.
 */
const GUARDED_SERVER = `
exec 3<&0 </dev/null
trap 'rm -rf "$FOLDER"' EXIT
"$BINARIES/initdb" --pgdata="$FOLDER/cluster" --username=tests --pwfile="$FOLDER/password" \
  --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 --no-sync 3<&- || exit 1
"$BINARIES/postgres" -D "$FOLDER/cluster" -p "$PORT" -k "$FOLDER" -c listen_addresses=127.0.0.1 \
  -c max_connections=200 -c fsync=off -c full_page_writes=off -c synchronous_commit=on \
  -c authentication_timeout=10s 3<&- &
server=$!
{ read -r _ <&3; kill -INT "$server"; } &
guard=$!
wait "$server"
kill "$guard" 2>/dev/null
`;

/** An account that the server may run as; PostgreSQL refuses to run as root. */
interface Account {
  uid: number;
  gid: number;
}

/** A running server. `url` leads to its maintenance database, as a superuser. */
export class PostgresServer {
  readonly url: string;
  readonly folder: string;
  /** Process id of the shell that guards the server; it leads the process group of both. */
  readonly processId: number;
  private readonly guard: ChildProcess;
  private log = '';

  private constructor(binaries: string, port: number) {
    const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
    const password = randomBytes(16).toString('hex');
    this.url = `postgres://tests:${password}@127.0.0.1:${port}/postgres`;
    this.folder = mkdtempSync(join(tmpdir(), 'svc-test-postgres-'));
    writeFileSync(join(this.folder, 'password'), password, { mode: 0o600 });
    if (account !== undefined) giveAway(this.folder, account);
    this.guard = spawn('/bin/sh', ['-c', GUARDED_SERVER], {
      ...account,
      cwd: this.folder,
      // A group of its own: the interrupt key of a terminal reaches the test process only, which then stops the server.
      detached: true,
      env: { PATH: process.env['PATH'], BINARIES: binaries, FOLDER: this.folder, PORT: String(port) },
    });
    this.processId = this.guard.pid ?? 0;
    this.readLog();
    this.letTestProcessEnd();
  }

  /**
   * Makes a cluster and starts it; resolves when it takes connections.
   * @param binaries the folder of `initdb` and `postgres`
   * @param freePort finds a port; given, since Jest's global set-up could not follow an import of it
   * @throws Error with the end of the server's log when it does not start
   */
  static async start(binaries: string, freePort: () => Promise<number>): Promise<PostgresServer> {
    for (let attempt = 1; ; attempt += 1) {
      const server = new PostgresServer(binaries, await freePort());
      try {
        await server.becomesReady();
        return server;
      } catch (error) {
        await server.stop();
        if (attempt === START_ATTEMPTS || !server.lostItsPort()) throw error;
      }
    }
  }

  /** Stops the server (fast shutdown: open transactions are rolled back) and removes its folder. */
  async stop(): Promise<void> {
    this.guard.stdin?.end();
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (this.isRunning() && Date.now() < deadline) await delay(PROBE_INTERVAL_MS);
    if (this.isRunning()) process.kill(-this.processId, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async becomesReady(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await takesConnections(this.url))) {
      if (!this.isRunning()) throw new Error(`The PostgreSQL server did not start:\n${this.log}`);
      if (Date.now() > deadline) throw new Error(`The PostgreSQL server is not ready yet:\n${this.log}`);
      await delay(PROBE_INTERVAL_MS);
    }
  }

  /** Another process can take the port between the moment it is found free and the start of the server. */
  private lostItsPort(): boolean {
    return this.log.includes('Address already in use');
  }

  private isRunning(): boolean {
    return this.guard.pid !== undefined && this.guard.exitCode === null && this.guard.signalCode === null;
  }

  private readLog(): void {
    const keep = (text: Buffer) => (this.log = (this.log + text.toString()).slice(-LOG_TAIL_CHARACTERS));
    this.guard.stdout?.on('data', keep);
    this.guard.stderr?.on('data', keep);
    this.guard.on('error', (error) => keep(Buffer.from(error.message)));
    // The shell may be gone already when its input is ended.
    this.guard.stdin?.on('error', () => undefined);
  }

  private letTestProcessEnd(): void {
    this.guard.unref();
    for (const stream of [this.guard.stdin, this.guard.stdout, this.guard.stderr]) {
      (stream as { unref?(): void } | null)?.unref?.();
    }
  }
}

function unprivilegedAccount(): Account {
  const account = accountOf('postgres') ?? accountOf('nobody');
  if (account === undefined)
    throw new Error('PostgreSQL does not run as root, and no other account was found.');
  return account;
}

function accountOf(name: string): Account | undefined {
  const ask = (option: string) =>
    Number(execFileSync('id', [option, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return undefined;
  }
}

function giveAway(folder: string, { uid, gid }: Account): void {
  for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))])
    chownSync(path, uid, gid);
}

async function takesConnections(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: PROBE_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}
