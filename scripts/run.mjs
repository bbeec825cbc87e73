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

/** As in the image: where memory is limited Node.js would give new objects too little room (docs/operator/install.md#size). */
const flags = { start: ['--max-semi-space-size=16'] };

process.exitCode = await launch(...process.argv.slice(2));

/** Answers the exit code; `install` and `build` only prepare. */
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

/** What test/support/scopes.cjs calls `main`; given paths, the tests there, whatever their scope. */
function launchTests(args, scope = 'main') {
  if (!hasPath(args)) process.env.TEST_SCOPE = scope;
  return launchProgram('test', args);
}

function hasPath(args) {
  return args.some((arg, index) => !arg.startsWith('-') && !TAKES_VALUE.has(args[index - 1]));
}

/** `npm test`, then what it leaves out: two runs of Jest, since each database has its turn. */
async function launchAllTests(args) {
  const first = await launchTests(args);
  const rest = await launchTests(args, 'rest');
  return first || rest;
}

/** Tests of the named paths or of `SLOWED_FOLDERS`, while busy loops take most of each processor. */
async function launchSlowTests(args) {
  const loops = Array.from(
    { length: LOOPS * availableParallelism() },
    () => new Worker('for (;;);', { eval: true }),
  );
  try {
    return await launchTests(hasPath(args) ? args : [...SLOWED_FOLDERS, ...args]);
  } finally {
    await Promise.all(loops.map((loop) => loop.terminate()));
  }
}

/** Lists the series where none is named. */
function launchSeries(name, ...args) {
  const pattern = seriesPattern(root, name);
  if (pattern === undefined) {
    process.stderr.write(explainSeries(root));
    return 2;
  }
  process.env.TEST_SERIES = name;
  return launchProgram('test', [pattern, ...args]);
}

/** Random input for as long as is asked for, from another seed each time unless one is given. */
function launchFuzz(args) {
  const given = optionsOf(args, { minutes: undefined, seed: String(randomInt(2 ** 31 - 1)) });
  if (!(given?.minutes > 0) || !Number.isInteger(Number(given.seed)))
    return explain('npm run fuzz -- --minutes N [--seed S]');
  Object.assign(process.env, { FUZZ_MINUTES: given.minutes, FUZZ_SEED: given.seed });
  process.stderr.write(`Random input for ${given.minutes} minutes, seed ${given.seed}\n`);
  return launchProgram('test', ['test/(fuzz/|long/fuzz\\.spec)', '--verbose']);
}

/** Mixed traffic for as long as is asked for. */
function launchSoak(args) {
  const given = optionsOf(args, { minutes: '60', database: 'postgresql' });
  if (!(given?.minutes > 0) || !['postgresql', 'embedded'].includes(given.database))
    return explain('npm run soak -- [--minutes N] [--database postgresql|embedded]');
  Object.assign(process.env, { SOAK_MINUTES: given.minutes, SOAK_DATABASE: given.database });
  return launchSeries('soak', '--verbose');
}

/** Undefined where they cannot be read. */
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
  // The peer is no package of the project: only the benchmark installs it, beside itself.
  return command === 'bench' && preparation.exitCode === 0 ? install(join(root, 'bench')) : preparation;
}

/** Tests also run when the build fails, so that one run shows all that is wrong; the exit code tells of both. */
function mustStop(command, { exitCode, interrupted, installed }) {
  if (exitCode === 0) return false;
  return !command.startsWith('test') || interrupted || !installed;
}

/** Jest finds its configuration by the working directory; the others take the caller's, for files they are given. */
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
