// Only one process can use an embedded data directory, even if two containers have the same process id.
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DataDirectoryLock,
  DataDirectoryLockedError,
} from '../../src/platform/database/embedded/data-directory.lock.js';

describe('the data directory lock', () => {
  let directory: string;
  const lockFile = () => join(directory, 'process.lock');
  const writeHolder = (change: object) => {
    const own = JSON.parse(readFileSync(lockFile(), 'utf8')) as object;
    writeFileSync(lockFile(), JSON.stringify({ ...own, ...change }));
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'lock-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('[D46] is held until it is released', () => {
    const lock = DataDirectoryLock.take(directory);
    expect(() => DataDirectoryLock.take(directory)).toThrow(DataDirectoryLockedError);
    lock.release();
    DataDirectoryLock.take(directory).release();
  });

  it('[D46] of a dead process is replaced', () => {
    const dead = DataDirectoryLock.take(directory);
    writeHolder({ processId: 2 ** 22 + 1 });
    DataDirectoryLock.take(directory).release();
    dead.release();
  });

  it('[D46] of an earlier process with the same id is replaced', () => {
    const earlier = DataDirectoryLock.take(directory);
    writeHolder({ startedAt: '1' });
    DataDirectoryLock.take(directory).release();
    earlier.release();
  });

  it('[D46] of another container is valid while it is touched, whatever its process id', () => {
    const foreign = DataDirectoryLock.take(directory);
    writeHolder({ processId: 2 ** 22 + 1, machine: 'another container' });
    expect(() => DataDirectoryLock.take(directory)).toThrow(DataDirectoryLockedError);
    foreign.release();
    const silent = new Date(Date.now() - 16_000);
    utimesSync(lockFile(), silent, silent);
    DataDirectoryLock.take(directory).release();
  });

  it.each(['00000000', 'ffffffff'])(
    '[D46] is refused while another process is taking the lock, in any order (%s)',
    (id) => {
      const other = `process.${id}-0000-4000-8000-000000000000.lock`;
      const lock = DataDirectoryLock.take(directory);
      renameSync(lockFile(), join(directory, other));
      lock.release();
      expect(() => DataDirectoryLock.take(directory)).toThrow(
        `The data directory ${directory} is in use by process ${process.pid}. Stop that process first.`,
      );
      expect(readdirSync(directory)).toEqual([other]);
    },
  );

  it('[D46] ignores an incompletely written file, which is deleted once it is old', () => {
    const torn = 'process.00000000-0000-4000-8000-000000000000.lock';
    writeFileSync(join(directory, torn), '{"processId":');
    DataDirectoryLock.take(directory).release();
    expect(readdirSync(directory)).toEqual([torn]);
    const silent = new Date(Date.now() - 16_000);
    utimesSync(join(directory, torn), silent, silent);
    DataDirectoryLock.take(directory).release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('[D46] is not released by a process that has lost it', () => {
    const lost = DataDirectoryLock.take(directory);
    writeHolder({ machine: 'another container' });
    lost.release();
    expect(readFileSync(lockFile(), 'utf8')).toContain('another container');
  });
});
