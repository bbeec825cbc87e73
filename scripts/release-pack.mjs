#!/usr/bin/env node
// Packs all files of a release and refuses packages that users' tools would reject. Then it tries each package from its file in an
// empty folder. It publishes nothing.
// Usage: npm run release:pack -- [--out FOLDER] [--rehearsal]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPackage } from './build-package.mjs';
import { run } from './child.mjs';
import { packageProblems } from './package-checks.mjs';
import { PACKAGE_FOLDERS } from './package-folders.mjs';
import { releaseObstacles } from './release-obstacles.mjs';

const JEST = 'node_modules/jest/bin/jest.js';
/** These tests install the release's files if RELEASE_FILES is their folder. */
const TRIALS = ['browser/readme', 'package/generated', 'partner/packed', 'long/embed/embed'];

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/release' },
    // Packs the current files without checking git and the changelog, and skips the trials.
    rehearsal: { type: 'boolean', default: false },
  },
});
const out = resolve(values.out);
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { name, version } = manifest;
process.exitCode = await release();

async function release() {
  const obstacles = values.rehearsal ? [] : releaseObstacles('.', version);
  if (obstacles.length > 0) return refuse(obstacles);
  mkdirSync(out, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'release-pack-'));
  try {
    const problems = await packAll(folder);
    if (problems.length > 0) return refuse(problems);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  writeFileSync(join(out, `${name}-${version}.cdx.json`), npm('run', '--silent', 'sbom', '--', '--omit=dev'));
  writeFileSync(join(out, 'SHA256SUMS'), checksums());
  return values.rehearsal ? 0 : tried();
}

/** @returns a line for each reason to refuse a package. Refused packages are deleted */
async function packAll(folder) {
  const built = [serviceFolder(folder)];
  for (const sources of PACKAGE_FOLDERS) built.push(await buildPackage(join(folder, sources), sources));
  const found = built.map(async (source) => {
    const file = pack(source, out);
    const problems = await packageProblems(file);
    if (problems.length === 0) console.log(file);
    else rmSync(file);
    return problems.map((problem) => `${basename(file)}: ${problem}`);
  });
  return (await Promise.all(found)).flat();
}

/**
 * Unpacks the service without its development tools.
 * It includes the lock file, so that `npm ci` installs the tested versions.
 */
function serviceFolder(folder) {
  execFileSync('tar', ['-xzf', pack('.', folder), '-C', folder]);
  const write = (file, value) =>
    writeFileSync(join(folder, 'package', file), `${JSON.stringify(value, null, 2)}\n`);
  const withoutTools = (all) =>
    Object.fromEntries(
      Object.entries(all).filter(([member]) => !['scripts', 'devDependencies'].includes(member)),
    );
  write('package.json', withoutTools(manifest));
  const { packages, ...lock } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const needed = Object.entries(packages).filter(([, { dev }]) => dev !== true);
  write('npm-shrinkwrap.json', {
    ...lock,
    packages: { ...Object.fromEntries(needed), '': withoutTools(packages['']) },
  });
  return join(folder, 'package');
}

function pack(source, folder) {
  const output = npm('pack', source, '--json', '--ignore-scripts', '--pack-destination', folder);
  // npm up to version 11 prints an array. Later versions print an object with a property for each package.
  const [{ filename }] = Object.values(JSON.parse(output));
  return join(folder, filename);
}

function npm(...args) {
  const shell = process.platform === 'win32';
  return execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], shell });
}

/** The input for `sha256sum --check`. */
function checksums() {
  const files = readdirSync(out).filter((file) => file.includes(`-${version}.`));
  const hash = (file) =>
    createHash('sha256')
      .update(readFileSync(join(out, file)))
      .digest('hex');
  return files.map((file) => `${hash(file)}  ${file}\n`).join('');
}

async function tried() {
  const options = { stdio: 'inherit', env: { ...process.env, RELEASE_FILES: out } };
  let failed = 0;
  for (const trial of TRIALS) {
    const started = Date.now();
    const { exitCode } = await run(process.execPath, [JEST, `test/${trial}.spec.ts`], options);
    console.log(`${trial}: ${Math.round((Date.now() - started) / 1000)} s`);
    failed ||= exitCode;
  }
  return failed;
}

function refuse(problems) {
  console.error(`Refused:\n${problems.map((line) => `  - ${line}\n`).join('')}`);
  return 1;
}
