// Reads from /proc how long the main thread of a process has worked, where its event loop runs.
import { existsSync, readFileSync } from 'node:fs';

/** The kernel's file of a thread's times; that on a processor, in nanoseconds, comes first. */
function timesOf(processId) {
  return `/proc/${processId}/task/${processId}/schedstat`;
}

/** Why nothing can be measured here; undefined where it can. */
export const unmeasurable = existsSync(timesOf(process.pid))
  ? undefined
  : `skipped: the system has no ${timesOf('PID')}`;

/** Processor time of the main thread since its start, in milliseconds. */
export function mainThreadMs(processId) {
  const [nanoseconds] = readFileSync(timesOf(processId), 'utf8').split(' ', 1);
  return Number(nanoseconds) / 1e6;
}
