// Waits for a condition outside this process.
import { setTimeout as delay } from 'node:timers/promises';

/** Repeats `ask` until it returns true. @throws Error with the `message` after `patienceMs` */
export async function untilTrue(patienceMs, message, ask, intervalMs = 50) {
  const deadline = performance.now() + patienceMs;
  while (!(await ask())) {
    if (performance.now() > deadline) throw new Error(message());
    await delay(intervalMs);
  }
}
