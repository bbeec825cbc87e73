// Reads from /proc how busy the whole machine is, so that a disturbed round can be told from a slow one.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time that all processes together have used since the machine started, in microseconds; see proc_stat(5). */
export function machineCpuMicroseconds() {
  const [first] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = first
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return ((user + nice + system + interrupts + softInterrupts + stolen) / ticksPerSecond) * 1e6;
}
