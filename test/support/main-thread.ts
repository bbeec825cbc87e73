// How long the main thread has worked, whatever else the machine does.
import { existsSync, readFileSync } from 'node:fs';

/** What the kernel reports of the main thread: its time on a processor, in nanoseconds, comes first. */
const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`;

/**
 * The main thread's time on a processor so far, in milliseconds; without the system's figures, of the clock.
 * Other programs on the machine do not add to it.
 */
export function mainThreadMs(): number {
  if (!existsSync(MAIN_THREAD)) return performance.now();
  const [nanoseconds = '0'] = readFileSync(MAIN_THREAD, 'utf8').split(' ', 1);
  return Number(nanoseconds) / 1e6;
}
