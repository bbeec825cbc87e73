// One embedded data directory, one process: also where process ids of two containers look alike.
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectoryLock, DataDirectoryLockedError } from '../../src/database/data-directory.lock.js';

describe('the lock of a data directory', () => {
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

  it('[D46] of a process that is gone is taken over', () => {
    const dead = DataDirectoryLock.take(directory);
    writeHolder({ processId: 2 ** 22 + 1 });
    DataDirectoryLock.take(directory).release();
    dead.release();
  });

  it('[D46] of an earlier process with the same id is taken over', () => {
    const earlier = DataDirectoryLock.take(directory);
    writeHolder({ startedAt: '1' });
    DataDirectoryLock.take(directory).release();
    earlier.release();
  });

  it('[D46] of another container counts while it is touched, whatever its process id means here', () => {
    const foreign = DataDirectoryLock.take(directory);
    writeHolder({ processId: 2 ** 22 + 1, place: 'another container' });
    expect(() => DataDirectoryLock.take(directory)).toThrow(DataDirectoryLockedError);
    foreign.release();
    const silent = new Date(Date.now() - 16_000);
    utimesSync(lockFile(), silent, silent);
    DataDirectoryLock.take(directory).release();
  });

  it('[D46] is not released by a process that has lost it', () => {
    const lost = DataDirectoryLock.take(directory);
    writeHolder({ place: 'another container' });
    lost.release();
    expect(readFileSync(lockFile(), 'utf8')).toContain('another container');
  });
});
