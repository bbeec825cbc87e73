// Waits for something outside of this process.
import { setTimeout as delay } from 'node:timers/promises';

/** Asks again and again until it is so. @throws Error with the `message` when that takes too long */
export async function untilTrue(patienceMs, message, ask, intervalMs = 50) {
  const deadline = performance.now() + patienceMs;
  while (!(await ask())) {
    if (performance.now() > deadline) throw new Error(message());
    await delay(intervalMs);
  }
}
