// Writes the results to a file, with the versions, the machine and the commit.
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { outputOf, versionOfNode } from './node-versions.mjs';

export async function writeJson({ options, postgres }, results) {
  const { json, nodes, rounds, requests, seconds, connections, growthScale } = options;
  const [version] = postgres === undefined ? [] : await postgres.query('postgres', 'SHOW server_version');
  const content = {
    ...surroundings(),
    // The measured programs' Node.js. The load generator runs on `node`.
    nodes: nodes.map((path) => ({ path, version: versionOfNode(path) })),
    postgres: version?.server_version,
    options: { rounds, requests, seconds, connections, growthScale },
    cases: results,
  };
  writeFileSync(json, `${JSON.stringify(content, null, 2)}\n`);
}

function surroundings() {
  const [{ model }] = cpus();
  return {
    at: new Date().toISOString(),
    node: process.version,
    cpu: model.trim(),
    cpuCount: cpus().length,
    memoryBytes: totalmem(),
    commit: git('rev-parse', 'HEAD'),
    // 0 means that the commit contains everything that was built.
    changedFiles: git('status', '--porcelain')?.split('\n').filter(Boolean).length,
  };
}

/** Returns git's output; undefined outside a repository. */
function git(...args) {
  return outputOf('git', args, import.meta.dirname);
}
