#!/usr/bin/env node
// Starts tests, demo, benchmark, service or admin commands, after installing and building what is missing.
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { run } from './child.mjs';
import { install, installAndBuild } from './preparation.mjs';
import { explainSeries, seriesPattern } from './series.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const JEST = 'node_modules/jest/bin/jest.js';
/** Folders that need neither a build nor a PostgreSQL server. */
const FAST_FOLDERS = ['test/unit', 'test/architecture', 'test/smoke'];
/** Folders whose tests have several processes, or clients and a server. */
const SLOWED_FOLDERS = ['test/database/', 'test/e2e/', 'test/instances/'];
/** Busy loops for each processor, while `npm run test:slow` runs. */
const LOOPS = 2;
/** Options of Jest whose value is the next argument. */
const TAKES_VALUE = new Set(['-t', '--testNamePattern', '-w', '--maxWorkers', '--seed', '--shard']);
const programs = {
  test: JEST,
  'test:fast': JEST,
  demo: 'dist/demo/run.js',
  start: 'dist/src/main.js',
  admin: 'dist/src/cli/svc-admin.js',
  bench: 'bench/run.mjs',
  docs: 'dist/scripts/docs/write.js',
};

/** The image has the same flag: with limited memory, Node.js's space for new objects is too small (docs/operator/install.md#size). */
const flags = { start: ['--max-semi-space-size=16'] };

process.exitCode = await launch(...process.argv.slice(2));

/** Returns the exit code. `install` and `build` only prepare. */
async function launch(command, ...args) {
  if (command === 'test') return launchTests(args);
  if (command === 'test:rest') return launchTests(args, 'rest');
  if (command === 'test:all') return launchAllTests(args);
  if (command === 'test:slow') return launchSlowTests(args);
  if (command === 'test:long') return launchSeries(...args);
  if (command === 'fuzz') return launchFuzz(args);
  if (command === 'soak') return launchSoak(args);
  if (!['install', 'build', ...Object.keys(programs)].includes(command))
    return explain(
      `node scripts/run.mjs install|build|test:rest|test:all|test:slow|test:long|fuzz|soak|${Object.keys(programs).join('|')} [arguments]`,
    );
  return launchProgram(command, args);
}

async function launchProgram(command, args) {
  const preparation = await prepare(command);
  const program = programs[command];
  if (program === undefined || mustStop(command, preparation)) return preparation.exitCode;
  const exitCode = await runProgram(command, join(root, program), args);
  return exitCode || preparation.exitCode;
}

/** Runs the tests of a scope of test/support/scopes.cjs. If paths are given, all tests there run. */
function launchTests(args, scope = 'main') {
  if (!hasPath(args)) process.env.TEST_SCOPE = scope;
  return launchProgram('test', args);
}

function hasPath(args) {
  return args.some((arg, index) => !arg.startsWith('-') && !TAKES_VALUE.has(args[index - 1]));
}

/** Runs `npm test`, then the tests that it leaves out. Jest runs twice, because the databases take turns. */
async function launchAllTests(args) {
  const first = await launchTests(args);
  const rest = await launchTests(args, 'rest');
  return first || rest;
}

/** Runs the tests of the given paths, or `npm test` in `SLOWED_FOLDERS`, while busy loops use most of each processor. */
async function launchSlowTests(args) {
  const loops = Array.from(
    { length: LOOPS * availableParallelism() },
    () => new Worker('for (;;);', { eval: true }),
  );
  const isWhole = !hasPath(args);
  if (isWhole) process.env.TEST_SCOPE = 'main';
  try {
    return await launchTests(isWhole ? [...SLOWED_FOLDERS, ...args] : args);
  } finally {
    await Promise.all(loops.map((loop) => loop.terminate()));
  }
}

/** Lists the series if the name is missing or unknown. */
function launchSeries(name, ...args) {
  const pattern = seriesPattern(root, name);
  if (pattern === undefined) {
    process.stderr.write(explainSeries(root));
    return 2;
  }
  process.env.TEST_SERIES = name;
  return launchProgram('test', [pattern, ...args]);
}

/** Tests with random input for the given minutes. The default seed is random. */
function launchFuzz(args) {
  const given = optionsOf(args, { minutes: undefined, seed: String(randomInt(2 ** 31 - 1)) });
  if (!(given?.minutes > 0) || !Number.isInteger(Number(given.seed)))
    return explain('npm run fuzz -- --minutes N [--seed S]');
  Object.assign(process.env, { FUZZ_MINUTES: given.minutes, FUZZ_SEED: given.seed });
  process.stderr.write(`Random input for ${given.minutes} minutes, seed ${given.seed}\n`);
  return launchProgram('test', ['test/(fuzz/|long/fuzz\\.spec)', '--verbose']);
}

/** Sends mixed traffic for the given minutes. */
function launchSoak(args) {
  const given = optionsOf(args, { minutes: '60', database: 'postgresql' });
  if (!(given?.minutes > 0) || !['postgresql', 'embedded'].includes(given.database))
    return explain('npm run soak -- [--minutes N] [--database postgresql|embedded]');
  Object.assign(process.env, { SOAK_MINUTES: given.minutes, SOAK_DATABASE: given.database });
  return launchSeries('soak', '--verbose');
}

/** The options' values; undefined if the arguments are invalid. */
function optionsOf(args, defaults) {
  const option = (standard) => ({ type: 'string', ...(standard !== undefined && { default: standard }) });
  const options = Object.entries(defaults).map(([name, standard]) => [name, option(standard)]);
  try {
    return parseArgs({ args, options: Object.fromEntries(options) }).values;
  } catch {
    return undefined;
  }
}

async function prepare(command) {
  if (['install', 'test:fast'].includes(command)) return install(root);
  const preparation = await installAndBuild(root);
  // Only the benchmark needs the peer, so it is installed in the benchmark's folder.
  return command === 'bench' && preparation.exitCode === 0 ? install(join(root, 'bench')) : preparation;
}

/** Tests run even if the build fails, so that one run shows all errors. The exit code covers both. */
function mustStop(command, { exitCode, interrupted, installed }) {
  if (exitCode === 0) return false;
  return !command.startsWith('test') || interrupted || !installed;
}

/** Jest finds its configuration in the working directory. Other programs keep the caller's directory, for relative paths. */
async function runProgram(command, file, args) {
  const isTest = command.startsWith('test');
  const folders = command === 'test:fast' ? FAST_FOLDERS : [];
  const { exitCode } = await run(process.execPath, [...(flags[command] ?? []), file, ...folders, ...args], {
    stdio: 'inherit',
    cwd: isTest ? root : process.cwd(),
  });
  return exitCode;
}

function explain(usage) {
  process.stderr.write(`Usage: ${usage}\n`);
  return 2;
}
