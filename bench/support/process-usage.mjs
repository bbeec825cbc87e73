// Reads from /proc what was used of CPU time and memory: by a process tree, by a main thread, by the whole machine.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const pageBytes = Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }));

/** CPU time (user and system) of a process tree since its start, in microseconds, ended descendants included. */
export function cpuMicroseconds(processId) {
  const ticks = treeOf(processId).map(({ ownTicks, endedChildrenTicks }) => ownTicks + endedChildrenTicks);
  return (sum(ticks) / ticksPerSecond) * 1e6;
}

/** Resident memory of a process tree in bytes. Memory that processes share is counted for each of them. */
export function residentBytes(processId) {
  return sum(treeOf(processId).map(({ residentPages }) => residentPages)) * pageBytes;
}

/** The kernel's file of a thread's times; that on a processor, in nanoseconds, comes first. */
const timesOfMainThread = (processId) => `/proc/${processId}/task/${processId}/schedstat`;

/** Why a main thread cannot be measured here; undefined where it can. */
export const unmeasurable = existsSync(timesOfMainThread(process.pid))
  ? undefined
  : `skipped: the system has no ${timesOfMainThread('PID')}`;

/** Processor time of a process's main thread, where its event loop runs, since its start, in milliseconds. */
export function mainThreadMs(processId) {
  const [nanoseconds] = readFileSync(timesOfMainThread(processId), 'utf8').split(' ', 1);
  return Number(nanoseconds) / 1e6;
}

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

/** What something else has used of the machine, so that a disturbed round can be told from a slow one. */
export function foreignShare(machineMicros, ourMicros, seconds) {
  return Math.max(0, (machineMicros - ourMicros) / (availableParallelism() * seconds * 1e6));
}

function treeOf(processId) {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess);
  const tree = processes.filter(({ id }) => id === processId);
  // The list grows while it is read: children of children follow their parents.
  for (const { id: parent } of tree) tree.push(...processes.filter(({ parentId }) => parentId === parent));
  return tree;
}

/** See proc_pid_stat(5). The program's name stands in parentheses and may hold anything; the numbers follow it. */
function readProcess(id) {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [userTicks, systemTicks, endedUserTicks, endedSystemTicks] = fields.slice(11, 15).map(Number);
    return [
      {
        id: Number(id),
        parentId: Number(fields[1]),
        ownTicks: userTicks + systemTicks,
        endedChildrenTicks: endedUserTicks + endedSystemTicks,
        residentPages: Number(fields[21]),
      },
    ];
  } catch {
    // It ended between the two readings.
    return [];
  }
}

export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
