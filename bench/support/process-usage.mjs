// Reads from /proc how much CPU time and memory a process and its descendants have used.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

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

function treeOf(processId) {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess);
  const tree = processes.filter(({ id }) => id === processId);
  // The list grows while it is walked: children of children follow their parents.
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

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
