#!/usr/bin/env node
// Packs the npm packages as they would be published, and refuses what their users' tools would object to. It publishes nothing.
// Usage: npm run release:pack -- [--out FOLDER]
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPackage } from './build-package.mjs';
import { packageProblems } from './package-checks.mjs';
import { PACKAGE_FOLDERS } from './package-folders.mjs';

const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist/release' } } });
const out = resolve(values.out);
const folder = mkdtempSync(join(tmpdir(), 'release-pack-'));
mkdirSync(out, { recursive: true });
try {
  for (const sources of PACKAGE_FOLDERS) await pack(await buildPackage(join(folder, 'built'), sources));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function pack(built) {
  const args = ['pack', built, '--json', '--ignore-scripts', '--pack-destination', out];
  const shell = process.platform === 'win32';
  const output = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], shell });
  // An array up to npm 11; an object with a member for each package since.
  const [{ filename }] = Object.values(JSON.parse(output));
  const file = join(out, filename);
  const problems = await packageProblems(file);
  if (problems.length === 0) return console.log(file);
  rmSync(file);
  console.error(`${filename} is refused:\n${problems.map((line) => `  - ${line}\n`).join('')}`);
  process.exitCode = 1;
}
