// Keeps two processes out of one embedded data directory, which PGlite itself does not.
import { linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { ProcessIdentity } from './process-file.js';
import { HEARTBEAT_MS, isDeadFile, liveProcessOf, textOf, touch, writeProcessFile } from './process-file.js';
import { StartError } from '../../start-error.js';

/** Says who holds the directory. Only the holder writes it. */
const HOLDER_FILE = 'process.lock';
const STARTER_FILE = /^process\.[0-9a-f-]{36}\.lock$/;
/** So often and so long a starter looks whether others that start at this moment have withdrawn: they need no longer. */
const LOOK_EVERY_MS = 5;
const PATIENCE_MS = 1_000;

/** The directory is in use by a live process. The message says by which and what to do (D46). */
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
 * Holds one data directory.
 *
 * Each starter makes a file of its own, under a name that is never used again, and only then looks for those of others. Of two
 * starters both files exist before the later one looks, so it sees the other's: two never both find themselves alone. A dead
 * process's file may be removed at any moment, since its name is never used again. An incomplete file counts for nothing: its
 * process has yet to look, and will see this one.
 * @rule D46 The embedded data directory belongs to one process at a time.
 */
export class DataDirectoryLock {
  private readonly heartbeat: NodeJS.Timeout;

  private constructor(private readonly starter: Starter) {
    this.heartbeat = setInterval(() => touch(starter.path), HEARTBEAT_MS);
    this.heartbeat.unref();
  }

  /**
   * Takes the lock. The lock of a dead process is taken over; one of another container or machine after 15 seconds of silence.
   * @throws DataDirectoryLockedError when a live process holds it, or takes it at the same moment
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
 * The id of the live process that has the directory, undefined where it is unknown. Only reads, for callers that
 * do not want to take the directory.
 */
export function holderOf(directory: string): number | undefined {
  try {
    return liveProcessOf(join(directory, HOLDER_FILE))?.processId;
  } catch {
    return undefined;
  }
}

/** A process that is taking the directory: it has its file, and looks at those of others. */
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
   * Among starters that see each other, the first by name stays until the others have withdrawn, so that one holds the directory
   * in the end.
   * @throws DataDirectoryLockedError when another is in, comes first, or does not withdraw
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
      sleep(LOOK_EVERY_MS);
    }
  }

  withdraw(): void {
    rmSync(this.path, { force: true });
  }

  /** In this order: who finds no other starter's file finds no live holder's either. */
  resign(): void {
    if (textOf(this.holderPath) === this.text) rmSync(this.holderPath, { force: true });
    this.withdraw();
  }

  /** The live processes that have a file here besides this one, in the order of the files' names. */
  private rivals(): { name: string; process: ProcessIdentity }[] {
    return this.otherStarters().flatMap((name) => {
      const process = liveProcessOf(join(this.directory, name));
      return process === undefined ? [] : [{ name, process }];
    });
  }

  /** Puts this process's own file in the holder's place: a link, so that one touch keeps both alive. Only who is alone comes here. */
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

/** Without the event loop, since the lock is taken before anything else and in one piece. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
