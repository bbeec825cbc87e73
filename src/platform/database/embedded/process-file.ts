// A file that represents one process, so that other processes can check whether it is alive.
import { readFileSync, readlinkSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * How often a process touches its file. Processes elsewhere, for which its pid means nothing, see that it is
 * alive.
 */
export const HEARTBEAT_MS = 3_000;
const SILENT_AFTER_MS = 15_000;

/** The process that a file represents. */
export interface ProcessIdentity {
  readonly processId: number;
  /** The machine or container in which the process id is valid. */
  readonly machine: string;
  /** When the system started the process; tells it from a later process with the same id. */
  readonly startedAt: string | undefined;
}

/**
 * Creates a file that represents this process.
 * @param id makes the content of this file unique
 * @returns the file's content
 */
export function writeProcessFile(path: string, id: string): string {
  const identity = { processId: process.pid, machine: thisMachine(), startedAt: startOf(process.pid) };
  const text = JSON.stringify({ ...identity, id });
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  return text;
}

/** The file's process if it is alive; undefined if the file is missing or incomplete. */
export function liveProcessOf(path: string): ProcessIdentity | undefined {
  const identity = identityIn(path);
  return identity !== undefined && isAlive(identity, path) ? identity : undefined;
}

/** Whether the file can be removed. An incomplete one may still be being written. */
export function isDeadFile(path: string): boolean {
  const identity = identityIn(path);
  return identity === undefined ? isSilent(path) : !isAlive(identity, path);
}

/** The content of the file; undefined if there is none. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Updates the file's time. Errors are ignored: they mean that the file or its directory was deleted, so
 * nothing is left to guard.
 */
export function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // See above.
  }
}

function identityIn(path: string): ProcessIdentity | undefined {
  try {
    // Any program may have written the file.
    const members = JSON.parse(textOf(path) ?? '{}') as Partial<ProcessIdentity>;
    const { processId, machine = '', startedAt } = members;
    return typeof processId === 'number' ? { processId, machine, startedAt } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAlive(identity: ProcessIdentity, path: string): boolean {
  return identity.machine === thisMachine() ? isRunning(identity) : !isSilent(path);
}

function isRunning({ processId, startedAt }: ProcessIdentity): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return startedAt === undefined || startedAt === startOf(processId);
}

/** The machine's name and, on Linux, the process-id namespace: two containers may use the same pid. */
function thisMachine(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function isSilent(path: string): boolean {
  const touchedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
  return Date.now() - touchedAt >= SILENT_AFTER_MS;
}

/** Field 22 of /proc/PID/stat; undefined on systems without it, where only the pid is compared. */
function startOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
