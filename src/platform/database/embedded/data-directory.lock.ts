// Keeps two processes out of one embedded data directory. PGlite itself does not.
import { randomUUID } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StartError } from '../../start-error.js';

/** Names the process that uses the directory. Only that process writes it. */
const HOLDER_FILE = 'process.lock';
const STARTER_FILE = /^process\.[0-9a-f-]{36}\.lock$/;
/** How often, and for how long, a starter waits for concurrent starters to withdraw. */
const POLL_INTERVAL_MS = 5;
const PATIENCE_MS = 1_000;
/**
 * How often a process touches its file. Processes elsewhere, for which its pid means nothing, see that it is
 * alive.
 */
const HEARTBEAT_MS = 3_000;
const SILENT_AFTER_MS = 15_000;

/** The directory is in use by a live process. The message names the process and the remedy (D46). */
export class DataDirectoryLockedError extends StartError {
  constructor(
    readonly directory: string,
    readonly processId: number,
  ) {
    super(`The data directory ${directory} is in use by process ${processId}. Stop that process first.`);
    this.name = 'DataDirectoryLockedError';
  }
}

/**
 * The lock of one data directory.
 *
 * Each starter creates its own file under a unique name, and only then looks for other files. If two
 * processes start at once, both files exist before the later one looks, so it sees the other file. Two
 * processes never both find themselves alone. A dead process's file may be removed at any time, because its
 * name is never used again. An incomplete file is ignored: its process has yet to look, and will see this
 * one.
 * @rule D46 The embedded data directory belongs to one process at a time.
 */
export class DataDirectoryLock {
  private readonly heartbeat: NodeJS.Timeout;

  private constructor(private readonly starter: Starter) {
    this.heartbeat = setInterval(() => touch(starter.path), HEARTBEAT_MS);
    this.heartbeat.unref();
  }

  /**
   * Takes the lock. Replaces the lock of a dead process at once, and of another container or machine after 15
   * seconds of silence.
   * @throws DataDirectoryLockedError if a live process holds the lock, or takes it at the same moment
   */
  static take(directory: string): DataDirectoryLock {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const starter = new Starter(directory);
    try {
      starter.becomeHolder();
      return new DataDirectoryLock(starter);
    } catch (error) {
      starter.withdraw();
      throw error;
    }
  }

  release(): void {
    clearInterval(this.heartbeat);
    this.starter.resign();
  }
}

/**
 * The id of the live process that uses the directory; undefined if it is unknown. Only reads, for callers
 * that do not want the lock.
 */
export function holderOf(directory: string): number | undefined {
  try {
    return liveProcessOf(join(directory, HOLDER_FILE))?.processId;
  } catch {
    return undefined;
  }
}

/** A process that is taking the lock: its own file exists, and it looks for others. */
class Starter {
  readonly path: string;
  private readonly name: string;
  private readonly text: string;
  private readonly holderPath: string;

  constructor(private readonly directory: string) {
    const id = randomUUID();
    this.name = `process.${id}.lock`;
    this.path = join(directory, this.name);
    this.holderPath = join(directory, HOLDER_FILE);
    this.text = writeProcessFile(this.path, id);
  }

  /**
   * Waits until no other starter is left. Among concurrent starters, the first by name waits for the others
   * to withdraw, so exactly one gets the lock.
   * @throws DataDirectoryLockedError if another process holds the lock, has precedence, or does not withdraw
   */
  becomeHolder(): void {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const holder = liveProcessOf(this.holderPath);
      if (holder !== undefined) throw new DataDirectoryLockedError(this.directory, holder.processId);
      const [rival] = this.rivals();
      if (rival === undefined) return this.enter();
      if (rival.name < this.name || performance.now() > deadline)
        throw new DataDirectoryLockedError(this.directory, rival.process.processId);
      sleep(POLL_INTERVAL_MS);
    }
  }

  withdraw(): void {
    rmSync(this.path, { force: true });
  }

  /**
   * Removes the holder's file first: a process that finds no starter's file then finds no live holder either.
   */
  resign(): void {
    if (textOf(this.holderPath) === this.text) rmSync(this.holderPath, { force: true });
    this.withdraw();
  }

  /** The other live processes that have a file here, sorted by file name. */
  private rivals(): { name: string; process: ProcessIdentity }[] {
    return this.otherStarters().flatMap((name) => {
      const process = liveProcessOf(join(this.directory, name));
      return process === undefined ? [] : [{ name, process }];
    });
  }

  /**
   * Makes this process the holder. Called only by the sole starter. A hard link keeps both files alive with
   * one touch.
   */
  private enter(): void {
    rmSync(this.holderPath, { force: true });
    linkSync(this.path, this.holderPath);
    for (const path of this.otherStarters().map((name) => join(this.directory, name)))
      if (isDeadFile(path)) rmSync(path, { force: true });
  }

  private otherStarters(): string[] {
    const names = readdirSync(this.directory).filter((name) => STARTER_FILE.test(name) && name !== this.name);
    return names.sort();
  }
}

/** Blocks without the event loop, because the lock is taken synchronously at the start. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** The process that a file represents. */
interface ProcessIdentity {
  readonly processId: number;
  /** The machine or container in which the process id is valid. */
  readonly machine: string;
  /** When the system started the process; tells it from a later process with the same id. */
  readonly startedAt: string | undefined;
}

/**
 * Creates a file that represents this process.
 * @param id makes the content of this file unique
 * @returns the file's content
 */
function writeProcessFile(path: string, id: string): string {
  const identity = { processId: process.pid, machine: thisMachine(), startedAt: startOf(process.pid) };
  const text = JSON.stringify({ ...identity, id });
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  return text;
}

/** The file's process if it is alive; undefined if the file is missing or incomplete. */
function liveProcessOf(path: string): ProcessIdentity | undefined {
  const identity = identityIn(path);
  return identity !== undefined && isAlive(identity, path) ? identity : undefined;
}

/** Whether the file can be removed. An incomplete one may still be being written. */
function isDeadFile(path: string): boolean {
  const identity = identityIn(path);
  return identity === undefined ? isSilent(path) : !isAlive(identity, path);
}

/** The content of the file; undefined if there is none. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Updates the file's time. Errors are ignored: they mean that the file or its directory was deleted, so
 * nothing is left to guard.
 */
function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // See above.
  }
}

function identityIn(path: string): ProcessIdentity | undefined {
  try {
    // Any program may have written the file.
    const members = JSON.parse(textOf(path) ?? '{}') as Partial<ProcessIdentity>;
    const { processId, machine = '', startedAt } = members;
    return typeof processId === 'number' ? { processId, machine, startedAt } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAlive(identity: ProcessIdentity, path: string): boolean {
  return identity.machine === thisMachine() ? isRunning(identity) : !isSilent(path);
}

function isRunning({ processId, startedAt }: ProcessIdentity): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return startedAt === undefined || startedAt === startOf(processId);
}

/** The machine's name and, on Linux, the process-id namespace: two containers may use the same pid. */
function thisMachine(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function isSilent(path: string): boolean {
  const touchedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
  return Date.now() - touchedAt >= SILENT_AFTER_MS;
}

/** Field 22 of /proc/PID/stat; undefined on systems without it, where only the pid is compared. */
function startOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
