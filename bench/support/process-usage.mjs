// Reads CPU time and memory of a process tree, a main thread and the whole machine from /proc.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

/** The kernel's file with a thread's times. The first number is its processor time in nanoseconds. */
const timesOfMainThread = (processId) => `/proc/${processId}/task/${processId}/schedstat`;

/** The reason why main threads cannot be measured here; undefined if they can. */
export const unmeasurable = existsSync(timesOfMainThread(process.pid))
  ? undefined
  : `skipped: the system has no ${timesOfMainThread('PID')}`;

/** Processor time of a process's main thread, which runs its event loop, since its start, in milliseconds. */
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

/** The share of the machine that other programs used, to distinguish disturbed rounds from slow ones. */
export function foreignShare(machineMicros, ourMicros, seconds) {
  return Math.max(0, (machineMicros - ourMicros) / (availableParallelism() * seconds * 1e6));
}

function treeOf(processId) {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess);
  const tree = processes.filter(({ id }) => id === processId);
  // The loop also visits the processes that it appends, so the tree includes all descendants.
  for (const { id: parent } of tree) tree.push(...processes.filter(({ parentId }) => parentId === parent));
  return tree;
}

/** See proc_pid_stat(5). The program's name is in parentheses and may contain any character. The numbers follow it. */
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
    // The process has ended since it was listed.
    return [];
  }
}

export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
