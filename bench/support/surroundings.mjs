// Says on what a measurement was made: versions, machine, commit.
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

export function surroundings() {
  const [{ model }] = cpus();
  return {
    at: new Date().toISOString(),
    node: process.version,
    cpu: model.trim(),
    cpuCount: cpus().length,
    memoryBytes: totalmem(),
    commit: git('rev-parse', 'HEAD'),
    // Nothing printed: all that was built is in the commit.
    changedFiles: git('status', '--porcelain')?.split('\n').filter(Boolean).length,
  };
}

/** Undefined outside of a repository. */
function git(...args) {
  try {
    const options = { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', args, options).trim();
  } catch {
    return undefined;
  }
}
