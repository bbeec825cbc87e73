// Stops a start on a Node.js that is older than package.json allows; written so that old ones can read it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ends the process with a message that names both versions, unless the running one is new enough. */
export function requireSupportedNode(root) {
  const needed = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node;
  if (isAtLeast(process.versions.node, needed.replace('>=', ''))) return;
  process.stderr.write(`Node.js ${needed} is needed; this is ${process.versions.node}.\n`);
  process.exit(1);
}

/** Compares major and minor: `isAtLeast('20.20.2', '20.19')`. */
export function isAtLeast(version, minimum) {
  const [major, minor] = version.split('.').map(Number);
  const [neededMajor, neededMinor = 0] = minimum.split('.').map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}
