// Measures the CPU time of the main thread, which other load on the machine does not change.
import { existsSync, readFileSync } from 'node:fs';

/** The kernel's statistics of the main thread. The first figure is its CPU time in nanoseconds. */
const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`;

/**
 * The main thread's CPU time so far, in milliseconds. Without the kernel's figures, it is the elapsed time.
 * Other programs on the machine do not add to it.
 */
export function mainThreadMs(): number {
  if (!existsSync(MAIN_THREAD)) return performance.now();
  const [nanoseconds = '0'] = readFileSync(MAIN_THREAD, 'utf8').split(' ', 1);
  return Number(nanoseconds) / 1e6;
}
