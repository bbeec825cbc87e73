// Finds programs of the system's packages, for tests that run them.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of a program of the system's; undefined where it is not installed. Debian keeps some where only root looks. */
export function systemProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
