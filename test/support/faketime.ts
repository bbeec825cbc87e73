// Runs a program under a clock that a test sets, by Debian's faketime, and tells where that is missing.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LIBRARY = join('faketime', 'libfaketimeMT.so.1');

/** The library that stands between a program and the system's clock; undefined where it is not installed. */
export function faketimeLibrary(): string | undefined {
  const folders = ['/usr/lib', ...readdirSync('/usr/lib').map((name) => join('/usr/lib', name))];
  return folders.map((folder) => join(folder, LIBRARY)).find((path) => existsSync(path));
}

/** The clock of a program that is started with its environment: it goes as the machine's does, and can be set. */
export class FakeTime {
  constructor(
    private readonly library: string,
    private readonly file: string,
  ) {
    this.set(0);
  }

  /** The monotonic clock stays what it is, as it does when somebody sets the other one. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** @param aheadSeconds of the machine's clock; negative ones are behind it */
  set(aheadSeconds: number): void {
    writeFileSync(this.file, `${aheadSeconds < 0 ? '-' : '+'}${Math.abs(aheadSeconds)}\n`);
  }
}
