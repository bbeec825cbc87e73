// Which version a Node.js binary is of.
import { execFileSync } from 'node:child_process';

/** Such as v24.1.0; undefined for what is no Node.js binary that runs. */
export function versionOfNode(path) {
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync(path, ['-p', 'process.version'], options).trim();
  } catch {
    return undefined;
  }
}
