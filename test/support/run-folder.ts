// Gives each test run its own temporary folder, in memory if there is room. A run creates more than a hundred databases
// of a thousand small files each.
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
const NEEDED_BYTES = 2 * 2 ** 30;
/** An account can remove only its own files. A process id is valid only on its own machine or container. */
const PREFIX = `svc-test-${process.getuid?.() ?? 'user'}-${hostname()}-run-`;

let entered: string | undefined;

/** Makes the folder the temporary one of this process, and of those that it starts from now on. */
export function enterRunFolder(): void {
  process.env['TEST_LASTING_FOLDER'] = tmpdir();
  entered = (hasRoom(IN_MEMORY) ? newFolderIn(IN_MEMORY) : undefined) ?? newFolderIn(tmpdir());
  if (entered === undefined) throw new Error(`no folder can be made in ${tmpdir()}`);
  // PostgreSQL's account has a folder of its own in it.
  chmodSync(entered, 0o711);
  process.env['TMPDIR'] = entered;
}

/** Removes the folder with all that tests have left in it. */
export function leaveRunFolder(): void {
  if (entered !== undefined) removeOnceLeft(entered);
  process.env['TMPDIR'] = lastingFolder();
  entered = undefined;
}

/** Servers that are just ending, as after Ctrl-C, still write and remove files in it. */
function removeOnceLeft(folder: string): void {
  for (let triesLeft = 100; ; triesLeft--)
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (triesLeft === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
}

/** The folder for files that the next run can reuse. */
export function lastingFolder(): string {
  return process.env['TEST_LASTING_FOLDER'] ?? tmpdir();
}

/** @returns undefined if no folder can be created there */
function newFolderIn(parent: string): string | undefined {
  try {
    removeLeftovers(parent);
    return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  } catch {
    return undefined;
  }
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}

/** Removes the folders of runs that were killed. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent).filter((each) => each.startsWith(PREFIX))) {
    const owner = parseInt(name.slice(PREFIX.length), 10);
    if (!isRunning(owner)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/** A process of another account runs too, although it may not be signalled. */
function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
