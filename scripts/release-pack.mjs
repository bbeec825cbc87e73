#!/usr/bin/env node
// Packs the npm packages as they would be published, and refuses when anything about them, or about this release, is wrong.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prerelease } from 'semver';
import { PACKAGE_FOLDERS } from './package-folders.mjs';
import { releaseProblems } from './release-checks.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const FAILED = 1;
const MISUSED = 2;
/** Whatever builds or cleans the service may empty it: what is packed here is published at once, or made again. */
const DEFAULT_FOLDER = 'dist/release';
const USAGE = `Usage: npm run release:pack -- [options]

Builds the npm packages, packs them, and checks what it packed. It publishes nothing.

Options:
  --out <folder>  where the packages go (default: ${DEFAULT_FOLDER})
  --rehearsal     packs whatever is here: neither git nor the changelog has to say that it is a release
  -h, --help      display help for command
`;

const options = optionsOf(process.argv.slice(2));
if (options === undefined) process.exitCode = MISUSED;
else if (options.help) process.stdout.write(USAGE);
else process.exitCode = await pack(options);

function optionsOf(args) {
  try {
    return parseArgs({
      args,
      options: {
        out: { type: 'string', default: join(root, DEFAULT_FOLDER) },
        rehearsal: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`error: ${error.message}\n\n${USAGE}`);
    return undefined;
  }
}

/** Answers the exit code. Where one package is refused none is left lying about. */
async function pack({ out, rehearsal }) {
  const service = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const obstacles = rehearsal ? [] : releaseProblems(root, service.version);
  if (obstacles.length > 0) return refuse(obstacles);
  const folder = mkdtempSync(join(tmpdir(), 'release-pack-'));
  try {
    const packages = [];
    for (const [index, sources] of PACKAGE_FOLDERS.entries()) {
      const built = join(folder, `package-${index}`);
      if (!build(built, sources)) return refuse(['the package cannot be built']);
      const packed = packInto(folder, built);
      // Loaded late: it brings a compiler along, which a refused state of the repository does not need.
      const { checkPackage } = await import('./package-checks.mjs');
      const { problems, accepted } = await checkPackage(packed.file, { root, service });
      if (problems.length > 0) return refuse(problems);
      packages.push({ ...packed, accepted });
    }
    mkdirSync(out, { recursive: true });
    for (const { file: made, ...packed } of packages) {
      const file = join(resolve(out), packed.filename);
      copyFileSync(made, file);
      report({ ...packed, file: relative(process.cwd(), file), rehearsal });
    }
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds into the folder, and answers whether that went well; the compiler's complaints are passed on. */
function build(folder, sources) {
  const args = [join(root, 'scripts/build-package.mjs'), folder, sources];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) process.stderr.write(stdout);
  return status === 0;
}

function packInto(folder, source) {
  const args = ['pack', source, '--json', '--ignore-scripts', '--pack-destination', folder];
  const output = execFileSync('npm', args, {
    encoding: 'utf8',
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  });
  // An array up to npm 11; an object with a member for each package since.
  const [packed] = Object.values(JSON.parse(output));
  return { ...packed, file: join(folder, packed.filename) };
}

function refuse(problems) {
  process.stderr.write(`Refused:\n${problems.map((problem) => `  - ${problem}\n`).join('')}`);
  return FAILED;
}

function report({ name, version, file, size, unpackedSize, entryCount, integrity, accepted, rehearsal }) {
  const channel = prerelease(version) === null ? 'latest' : 'beta';
  const rows = [
    ['name', name],
    ['version', version],
    ['file', file],
    ['size', `${size} bytes; unpacked ${unpackedSize} bytes in ${entryCount} files`],
    ['integrity', integrity],
    ...accepted.map((finding) => ['accepted', finding]),
    [
      'publish',
      rehearsal ? 'no: this is a rehearsal' : `npm publish ${file} --tag ${channel} --access public`,
    ],
  ];
  process.stdout.write(rows.map(([key, value]) => `${key.padEnd(10)} ${value}\n`).join(''));
}
