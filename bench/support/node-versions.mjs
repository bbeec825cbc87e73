// Which version a Node.js binary is of.
import { execFileSync } from 'node:child_process';

/** Such as v24.1.0; undefined for what is no Node.js binary that runs. */
export function versionOfNode(path) {
  return outputOf(path, ['-p', 'process.version']);
}

/** What a program prints; undefined where it fails. */
export function outputOf(program, args, cwd) {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
