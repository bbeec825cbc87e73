// Reads the version of a Node.js binary.
import { execFileSync } from 'node:child_process';

/** A version such as v24.1.0; undefined if the path is not a working Node.js binary. */
export function versionOfNode(path) {
  return outputOf(path, ['-p', 'process.version']);
}

/** The program's output; undefined if it fails. */
export function outputOf(program, args, cwd) {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
