// Real processes that start at the same moment on a data directory whose last holder was killed.
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectoryLock } from '../../src/platform/database/embedded/data-directory.lock.js';
import { LockProcess } from '../support/lock-process.js';
import { sizeOf } from '../support/series.js';

const ROUNDS = sizeOf({ small: 50, whole: 500 });
const PATIENCE_MS = 120_000;
const DEAD_PROCESS = 2 ** 22 + 1;

describe("concurrent starts on a killed process's lock", () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-race-'));
  const holderFile = join(directory, 'process.lock');
  let starters: LockProcess[];
  let deadText: string;

  beforeAll(async () => {
    starters = await Promise.all(Array.from({ length: 4 }, () => LockProcess.start()));
    deadText = textOfDeadProcess();
  });
  afterAll(async () => {
    await Promise.all(starters.map((starter) => starter.kill()));
    rmSync(directory, { recursive: true });
  });

  function textOfDeadProcess(): string {
    const lock = DataDirectoryLock.take(directory);
    const own = JSON.parse(readFileSync(holderFile, 'utf8')) as object;
    lock.release();
    return JSON.stringify({ ...own, processId: DEAD_PROCESS });
  }

  /** Two names of one file. */
  function leaveStaleLock(round: number): void {
    writeFileSync(holderFile, deadText);
    const starterFile = `process.00000000-0000-4000-8000-${String(round).padStart(12, '0')}.lock`;
    linkSync(holderFile, join(directory, starterFile));
  }

  /** @returns how many held the lock at the same time */
  async function race(count: number, round: number): Promise<number> {
    leaveStaleLock(round);
    const racing = starters.slice(0, count);
    const taken = await Promise.all(racing.map((starter) => starter.take(directory)));
    await Promise.all(racing.map((starter) => starter.release()));
    return taken.filter((each) => each === 'held').length;
  }

  it.each([2, 3, 4])(
    '[D46][K35] let exactly one of %d hold it in every round',
    async (count) => {
      const roundsByHolders = new Map<number, number>();
      for (let round = 0; round < ROUNDS; round += 1) {
        const holders = await race(count, round);
        roundsByHolders.set(holders, (roundsByHolders.get(holders) ?? 0) + 1);
      }
      expect([...roundsByHolders]).toEqual([[1, ROUNDS]]);
      expect(readdirSync(directory)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
