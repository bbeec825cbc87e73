// Lets one launcher at a time install or build; a lock whose owner has died is taken over.
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const HEARTBEAT_MS = 1_000;
const ABANDONED_AFTER_MS = 10_000;
const POLL_MS = 200;

/** Runs `work` while holding the lock file, and waits for it as long as another owner gives signs of life. */
export async function exclusively(lockFile, work) {
  const token = randomUUID();
  await acquire(lockFile, token);
  const heartbeat = setInterval(() => touch(lockFile), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if (ownerOf(lockFile) === token) rmSync(lockFile, { force: true });
  }
}

/**
 * The owner shows that it lives by touching the file, not by its process id: ids are reused, and mean nothing
 * across containers that share the folder. Only the waiter's own clock measures, so that clocks need not agree.
 */
async function acquire(lockFile, token) {
  let lastSign;
  let seenAt;
  while (!create(lockFile, token)) {
    const sign = signOfLife(lockFile);
    if (lastSign === undefined)
      process.stderr.write('Waiting for another installation or build in this folder ...\n');
    if (sign !== lastSign) [lastSign, seenAt] = [sign, performance.now()];
    else if (performance.now() - seenAt > ABANDONED_AFTER_MS) rmSync(lockFile, { force: true });
    await delay(POLL_MS);
  }
}

function create(lockFile, token) {
  try {
    writeFileSync(lockFile, token, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function signOfLife(lockFile) {
  const { ino, mtimeMs } = statSync(lockFile, { throwIfNoEntry: false }) ?? {};
  return `${ino} ${mtimeMs}`;
}

function touch(lockFile) {
  try {
    utimesSync(lockFile, new Date(), new Date());
  } catch (error) {
    // Taken over while this process was suspended: the new owner's file is its own.
    if (error.code !== 'ENOENT') throw error;
  }
}

function ownerOf(lockFile) {
  try {
    return readFileSync(lockFile, 'utf8');
  } catch {
    return undefined;
  }
}
