// A file system of a few megabytes, in memory, that tests fill up.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FILLER = 'filler';
const BLOCK_BYTES = 4_096;

export class SmallDisk {
  private constructor(readonly directory: string) {}

  /** @returns undefined where this account may not mount one */
  static mount(megabytes: number): SmallDisk | undefined {
    const directory = mkdtempSync(join(tmpdir(), 'small-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', directory], {
        stdio: 'ignore',
      });
      return new SmallDisk(directory);
    } catch {
      rmSync(directory, { recursive: true, force: true });
      return undefined;
    }
  }

  /** Leaves room for nothing. */
  fill(): void {
    const file = openSync(join(this.directory, FILLER), 'a');
    try {
      for (;;) writeSync(file, Buffer.alloc(BLOCK_BYTES));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  makeRoom(): void {
    rmSync(join(this.directory, FILLER), { force: true });
  }

  unmount(): void {
    // Lazily: a process that a failing test left running must not keep it.
    execFileSync('umount', ['-l', this.directory], { stdio: 'ignore' });
    rmSync(this.directory, { recursive: true, force: true });
  }
}
