// Lets one launcher at a time install or build; the lock of a process that has died is taken over.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 200;

/** Runs `work` with the lock file. It first waits until no running process holds the lock. */
export async function exclusively(lockFile, work) {
  let isWaiting = false;
  while (!create(lockFile)) {
    if (!isHeld(lockFile)) rmSync(lockFile, { force: true });
    else if (!isWaiting)
      process.stderr.write(`Waiting for another installation or build in this folder (${lockFile}) ...\n`);
    isWaiting = true;
    await delay(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

function create(lockFile) {
  try {
    writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isHeld(lockFile) {
  try {
    process.kill(Number(readFileSync(lockFile, 'utf8')), 0);
    return true;
  } catch (error) {
    // The process exists but belongs to another account.
    return error.code === 'EPERM';
  }
}
