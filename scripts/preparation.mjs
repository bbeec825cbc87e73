// Brings node_modules and dist up to date with the lock file and the sources, and does nothing when they are.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './child.mjs';
import { exclusively } from './exclusive.mjs';
import { fingerprint } from './fingerprint.mjs';

const LOCK_FILE = '.launcher.lock';
const BUILD_STAMP = 'dist/.build-stamp';
const ENTRY_FILE = 'dist/src/main.js';
const COMMAND_FILES = ['dist/src/start.js', 'dist/src/cli/svc-admin.js'];

/** Returns the exit code, whether a signal asked to stop, and whether the packages are installed. */
export function install(root) {
  return prepare(
    root,
    () => isInstalled(root),
    () => installPackages(root),
  );
}

/** Installs the packages if necessary, then builds dist if necessary. */
export function installAndBuild(root) {
  return prepare(
    root,
    () => isInstalled(root) && isBuilt(root),
    async () => {
      const installation = await installPackages(root);
      return installation.exitCode === 0 ? build(root) : installation;
    },
  );
}

/** Waits if the lock file exists: its process may be about to replace files that look complete. */
async function prepare(root, isReady, work) {
  const lockFile = join(root, LOCK_FILE);
  const ready = { exitCode: 0, interrupted: false };
  const outcome = !existsSync(lockFile) && isReady() ? ready : await exclusively(lockFile, work);
  return { ...outcome, installed: isInstalled(root) };
}

async function installPackages(root) {
  if (isInstalled(root)) return { exitCode: 0, interrupted: false };
  // The build needs development packages even if NODE_ENV is production. The lock file has the packages' checksums,
  // so cached packages can be used without asking the registry.
  return step(root, 'Installing packages', 'npm', ['ci', '--include=dev', '--prefer-offline'], {
    shell: process.platform === 'win32',
  });
}

async function build(root) {
  if (isBuilt(root)) return { exitCode: 0, interrupted: false };
  const stamp = fingerprint(root);
  const outcome = await buildInSteps(root);
  if (outcome.exitCode !== 0) return outcome;
  // npx makes a program executable only when it first links it. A later build writes a new file.
  for (const file of COMMAND_FILES) chmodSync(join(root, file), 0o755);
  writeFileSync(join(root, BUILD_STAMP), stamp);
  return outcome;
}

/** The service comes first, because its build empties dist. */
const BUILD_STEPS = [
  ['Building', 'node_modules/@nestjs/cli/bin/nest.js', 'build'],
  ['Building the pages', 'pages/build.mjs'],
];

async function buildInSteps(root) {
  let outcome = { exitCode: 0, interrupted: false };
  for (const [title, ...program] of BUILD_STEPS)
    if (outcome.exitCode === 0) outcome = await step(root, title, process.execPath, program);
  return outcome;
}

/** All output goes to standard error: standard output belongs to the program that is started afterwards. */
async function step(root, title, file, args, options = {}) {
  process.stderr.write(`${title} ...\n`);
  const outcome = await run(file, args, { ...options, cwd: root, stdio: ['ignore', 2, 2] });
  if (outcome.exitCode !== 0) process.stderr.write(`${title} failed (exit code ${outcome.exitCode}).\n`);
  return outcome;
}

/**
 * Compares the lock file with npm's record of the installed packages. npm writes the record last, so it lacks the
 * packages of an interrupted installation. Optional packages are ignored, because npm chooses them by platform.
 */
function isInstalled(root) {
  const installed = readLock(join(root, 'node_modules', '.package-lock.json'));
  return Object.entries(readLock(join(root, 'package-lock.json'))).every(
    ([path, { version, optional }]) => path === '' || optional || installed[path]?.version === version,
  );
}

function readLock(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {};
}

function isBuilt(root) {
  const stamp = join(root, BUILD_STAMP);
  return (
    [stamp, join(root, ENTRY_FILE)].every(existsSync) && readFileSync(stamp, 'utf8') === fingerprint(root)
  );
}
