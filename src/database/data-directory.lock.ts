// Keeps two processes out of one embedded data directory, which PGlite itself does not.
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';

const LOCK_FILE = 'process.lock';

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
  private constructor(private readonly path: string) {}

  /**
   * Takes the lock; a lock whose process is gone is taken over.
   * @throws DataDirectoryLockedError when a live process holds it
   */
  static take(directory: string): DataDirectoryLock {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, LOCK_FILE);
    while (!createExclusively(path)) {
      const holder = holderOf(path);
      if (holder !== undefined && isAlive(holder))
        throw new DataDirectoryLockedError(directory, holder.processId);
      removeStale(path);
    }
    return new DataDirectoryLock(path);
  }

  release(): void {
    if (holderOf(this.path)?.processId === process.pid) rmSync(this.path, { force: true });
  }
}

interface Holder {
  processId: number;
  /** When that process began, as the system tells it; a reused process id has another. */
  startedAt: string | undefined;
}

/** The file is written whole before it gets its name, so that nobody ever reads half a lock. */
function createExclusively(path: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  const file = openSync(draft, 'wx', 0o600);
  const holder: Holder = { processId: process.pid, startedAt: startOf(process.pid) };
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
    const { processId, startedAt } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    return typeof processId === 'number' ? { processId, startedAt } : undefined;
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

function isAlive({ processId, startedAt }: Holder): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return startedAt === undefined || startedAt === startOf(processId);
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
