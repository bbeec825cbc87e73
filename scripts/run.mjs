#!/usr/bin/env node
// Starts tests, demo, benchmark, service or admin commands, after installing and building what is missing.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireSupportedNode } from './supported-node.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const programs = {
  test: 'node_modules/jest/bin/jest.js',
  demo: 'dist/demo/run.js',
  start: 'dist/src/main.js',
  admin: 'dist/src/cli/main.js',
  bench: 'bench/run.mjs',
};

requireSupportedNode(root);
process.exitCode = await launch(...process.argv.slice(2));

/** Answers the exit code; `install` and `build` only prepare. */
async function launch(command, ...args) {
  if (!['install', 'build', ...Object.keys(programs)].includes(command)) return explainUse();
  const preparation = await prepare(command);
  const program = programs[command];
  if (program === undefined || mustStop(command, preparation)) return preparation.exitCode;
  const exitCode = await runProgram(command, join(root, program), args);
  return exitCode || preparation.exitCode;
}

async function prepare(command) {
  // Loaded late: on a Node.js that is too old these files need not even parse.
  const { install, installAndBuild } = await import('./preparation.mjs');
  if (command === 'install') return install(root);
  const preparation = await installAndBuild(root);
  // The load generator and the peer are no packages of ours: only the benchmark installs them, beside itself.
  return command === 'bench' && preparation.exitCode === 0 ? install(join(root, 'bench')) : preparation;
}

/** Tests also run when the build fails, so that one run shows all that is wrong; the exit code tells of both. */
function mustStop(command, { exitCode, interrupted, installed }) {
  if (exitCode === 0) return false;
  return command !== 'test' || interrupted || !installed;
}

/** Jest finds its configuration by the working directory; the others take the caller's, for files they are given. */
async function runProgram(command, file, args) {
  const { run } = await import('./child.mjs');
  const { exitCode } = await run(process.execPath, [file, ...args], {
    stdio: 'inherit',
    cwd: command === 'test' ? root : process.cwd(),
  });
  return exitCode;
}

function explainUse() {
  process.stderr.write('Usage: node scripts/run.mjs install|build|test|demo|bench|start|admin [arguments]\n');
  return 2;
}
