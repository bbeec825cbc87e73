// Runs systemd-analyze, the checker that comes with systemd, and says if it is missing.
import { spawnSync } from 'node:child_process';

/** Undefined if systemd-analyze can be run, else why not. */
export function systemdAnalyzeIsMissing(): string | undefined {
  const { error } = spawnSync('systemd-analyze', ['--version']);
  return error === undefined
    ? undefined
    : 'systemd-analyze is not installed (Debian: apt-get install systemd)';
}

/** @returns what `systemd-analyze verify` prints about a unit, and its exit code */
export function verifyUnit(path: string): { status: number | null; printed: string } {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  return { status, printed: stdout + stderr };
}
