// Writes the results to a file, with what they were measured on: versions, machine, commit.
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { outputOf, versionOfNode } from './node-versions.mjs';

export async function writeJson({ options, postgres }, results) {
  const { json, nodes, rounds, requests, seconds, connections, growthScale } = options;
  const [version] = postgres === undefined ? [] : await postgres.query('postgres', 'SHOW server_version');
  const content = {
    ...surroundings(),
    // Of the measured programs; the load generator runs on `node`.
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
    // Nothing printed: all that was built is in the commit.
    changedFiles: git('status', '--porcelain')?.split('\n').filter(Boolean).length,
  };
}

/** Undefined outside of a repository. */
function git(...args) {
  return outputOf('git', args, import.meta.dirname);
}
