// Waits for what happens in other processes, by looking again and again.
import { setTimeout as realPause } from 'node:timers/promises';

/** Node.js's own, also while a test has put a clock in its place. */
export const pause = realPause;

const POLL_INTERVAL_MS = 25;

/**
 * @param what names in the error what did not happen
 * @returns after how many milliseconds it was so
 */
export async function until(
  what: string,
  limitMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<number> {
  const startedAt = performance.now();
  while (!(await answered(condition, startedAt + limitMs - performance.now()))) {
    if (performance.now() - startedAt > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await pause(POLL_INTERVAL_MS);
  }
  return performance.now() - startedAt;
}

/** False if the condition does not answer within the remaining time. */
async function answered(condition: () => boolean | Promise<boolean>, leftMs: number): Promise<boolean> {
  const answer = condition();
  if (typeof answer === 'boolean') return answer;
  const settled = new AbortController();
  const timeUp = pause(Math.max(0, leftMs), false, { signal: settled.signal }).catch(() => false);
  return Promise.race([answer, timeUp]).finally(() => settled.abort());
}
