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

/** Answers the exit code, whether a signal asked to stop, and whether the packages are there. */
export function install(root) {
  return prepare(
    root,
    () => isInstalled(root),
    () => installPackages(root),
  );
}

/** As `install`, then the same for dist. */
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

/** While the lock file exists somebody is at work, and what looks complete may be about to go. */
async function prepare(root, isReady, work) {
  const lockFile = join(root, LOCK_FILE);
  const ready = { exitCode: 0, interrupted: false };
  const outcome = !existsSync(lockFile) && isReady() ? ready : await exclusively(lockFile, work);
  return { ...outcome, installed: isInstalled(root) };
}

async function installPackages(root) {
  if (isInstalled(root)) return { exitCode: 0, interrupted: false };
  // Development packages are needed to build, also where NODE_ENV is production. The lock file has the checksum of each package: what the
  // cache has need not be asked for again.
  return step(root, 'Installing packages', 'npm', ['ci', '--include=dev', '--prefer-offline'], {
    shell: process.platform === 'win32',
  });
}

async function build(root) {
  if (isBuilt(root)) return { exitCode: 0, interrupted: false };
  const stamp = fingerprint(root);
  const outcome = await buildInSteps(root);
  if (outcome.exitCode !== 0) return outcome;
  // npx marks a program as executable only when it links it first; a later build writes the file anew.
  for (const file of COMMAND_FILES) chmodSync(join(root, file), 0o755);
  writeFileSync(join(root, BUILD_STAMP), stamp);
  return outcome;
}

/** First the service, which empties dist. */
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
 * Compares the lock file with the record that npm keeps of what it has installed: npm writes it last, so an
 * installation that broke off does not count. Optional packages are for this or for other platforms: npm decides.
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
