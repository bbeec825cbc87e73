// Keeps two processes out of one embedded data directory, which PGlite itself does not.
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';

const LOCK_FILE = 'process.lock';
/** The holder touches its lock this often: a process elsewhere, whose pid means nothing here, sees by it that it lives. */
const HEARTBEAT_MS = 3_000;
const SILENT_AFTER_MS = 15_000;

/** The directory is in use by a live process. The message says by which and what to do (D46). */
export class DataDirectoryLockedError extends Error {
  constructor(
    readonly directory: string,
    readonly processId: number,
  ) {
    super(
      `The data directory ${directory} is in use by process ${processId}. ` +
        'Stop that process first, or run on PostgreSQL (SVC_DATABASE_URL), where commands and the service share a database.',
    );
    this.name = 'DataDirectoryLockedError';
  }
}

/**
 * Holds the lock file of one data directory.
 * @rule D46 The embedded data directory belongs to one process at a time.
 */
export class DataDirectoryLock {
  private readonly heartbeat: NodeJS.Timeout;

  private constructor(private readonly path: string) {
    this.heartbeat = setInterval(() => touch(path), HEARTBEAT_MS);
    this.heartbeat.unref();
  }

  /**
   * Takes the lock; a lock whose process is gone is taken over, one from another container or host after 15 seconds of
   * silence.
   * @throws DataDirectoryLockedError when a live process holds it
   */
  static take(directory: string): DataDirectoryLock {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, LOCK_FILE);
    while (!createExclusively(path)) {
      const holder = holderOf(path);
      if (holder !== undefined && isAlive(holder, path))
        throw new DataDirectoryLockedError(directory, holder.processId);
      removeStale(path);
    }
    return new DataDirectoryLock(path);
  }

  release(): void {
    clearInterval(this.heartbeat);
    const holder = holderOf(this.path);
    if (holder?.processId === process.pid && holder.place === here()) rmSync(this.path, { force: true });
  }
}

interface Holder {
  processId: number;
  /** Where that process id means something. */
  place: string;
  /** When that process began, as the system tells it; a reused process id has another. */
  startedAt: string | undefined;
}

/** The file is written whole before it gets its name, so that nobody ever reads half a lock. */
function createExclusively(path: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  const file = openSync(draft, 'wx', 0o600);
  const holder: Holder = { processId: process.pid, place: here(), startedAt: startOf(process.pid) };
  writeSync(file, JSON.stringify(holder));
  closeSync(file);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function holderOf(path: string): Holder | undefined {
  try {
    const { processId, place = '', startedAt } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    return typeof processId === 'number' ? { processId, place, startedAt } : undefined;
  } catch {
    return undefined;
  }
}

/** Renaming first makes sure that of two processes that find the same stale lock only one removes it. */
function removeStale(path: string): void {
  const grave = `${path}.${randomUUID()}`;
  try {
    renameSync(path, grave);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  rmSync(grave, { force: true });
}

function isAlive(holder: Holder, path: string): boolean {
  return holder.place === here() ? isRunning(holder) : silenceMs(path) < SILENT_AFTER_MS;
}

function isRunning({ processId, startedAt }: Holder): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return startedAt === undefined || startedAt === startOf(processId);
}

/** The host and, on Linux, the process-id namespace: in two containers one number names two processes. */
function here(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function silenceMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** When it fails the lock file is gone, and with it the directory: there is nothing left to guard. */
function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // Said above.
  }
}

/** Field 22 of /proc/PID/stat; undefined on systems without it, where the process id alone decides. */
function startOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
