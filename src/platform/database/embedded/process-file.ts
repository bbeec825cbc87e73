// A file that stands for one process. It names the process, so that others can check whether that lives.
import { readFileSync, readlinkSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Its process touches the file this often: a process elsewhere, whose pid means nothing here, sees by it that it lives. */
export const HEARTBEAT_MS = 3_000;
const SILENT_AFTER_MS = 15_000;

/** Which process a file stands for. */
export interface ProcessIdentity {
  readonly processId: number;
  /** The machine, or container, in which that process id means something. */
  readonly machine: string;
  /** When that process began, according to the system; a reused process id has another. */
  readonly startedAt: string | undefined;
}

/**
 * Makes a file that stands for this process.
 * @param id makes this file's text unlike any other
 * @returns the text that it holds
 */
export function writeProcessFile(path: string, id: string): string {
  const identity = { processId: process.pid, machine: thisMachine(), startedAt: startOf(process.pid) };
  const text = JSON.stringify({ ...identity, id });
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  return text;
}

/** The process that the file stands for, if it lives; undefined where there is no file, or none that is whole. */
export function liveProcessOf(path: string): ProcessIdentity | undefined {
  const identity = identityIn(path);
  return identity !== undefined && isAlive(identity, path) ? identity : undefined;
}

/** Whether the file will never be needed again. An incomplete one may still be being written. */
export function isDeadFile(path: string): boolean {
  const identity = identityIn(path);
  return identity === undefined ? isSilent(path) : !isAlive(identity, path);
}

/** The text of the file, undefined where there is none. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** If it fails the file is deleted, and the directory with it: there is nothing left to guard. */
export function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // Said above.
  }
}

function identityIn(path: string): ProcessIdentity | undefined {
  try {
    // Any program may have written it.
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

/** The machine's name and, on Linux, the process-id namespace: in two containers one number names two processes. */
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

/** Field 22 of /proc/PID/stat; undefined on systems without it, where the process id alone decides. */
function startOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
