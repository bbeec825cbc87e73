#!/usr/bin/env node
// Adds to package-lock.json the optional packages of other platforms that npm has left out of it.
// npm leaves out what its registry does not serve; `npm ci` then fails elsewhere, or installs without them.
// To be run after each change of the dependencies. By itself it reads nothing but the lock file, so that one lock
// always gives one result; with --ask-registry it also asks for missing checksums, which not every registry knows.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addMissingOptionalPackages } from './optional-packages.mjs';

const lockFile = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json');
const lock = JSON.parse(readFileSync(lockFile, 'utf8'));

const added = addMissingOptionalPackages(lock);
if (process.argv.includes('--ask-registry')) addChecksums(lock);
writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`);
const unchecked = Object.entries(lock.packages).filter(([path, { integrity }]) => path && !integrity);
process.stdout.write(
  `${added.length} packages added; ${unchecked.length} locked packages have no checksum.\n`,
);

function addChecksums({ packages }) {
  for (const [path, entry] of Object.entries(packages)) {
    if (path === '' || entry.integrity) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const { version, ...rest } = entry;
    packages[path] = { version, integrity: askRegistry(`${name}@${version}`), ...rest };
  }
}

/** Answers undefined where the registry does not serve the package. */
function askRegistry(specification) {
  try {
    const options = {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      shell: process.platform === 'win32',
    };
    return execFileSync('npm', ['view', specification, 'dist.integrity'], options).trim() || undefined;
  } catch {
    return undefined;
  }
}
