// The package as npm installs it from its file and a registry, with an empty cache, in an empty folder.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastingFolder } from '../../support/run-folder.js';
import { REPOSITORY } from '../../support/source-files.js';
import type { Installation, Manifest } from './packed-package.js';
import { installationIn, manifestIn, PACKAGE } from './packed-package.js';
import type { PeerSet } from './peer-versions.js';

const SOURCES = ['test/package/host', 'examples/own-product/src', 'examples/with-defaults/src'];
const OF_THE_HOST = ['@types/node', 'class-transformer', 'class-validator', 'helmet'];

/** Tells npm that it has seen nothing yet. */
export function emptyCache(folder: string): Record<string, string> {
  return {
    npm_config_cache: mkdtempSync(join(folder, 'npm-cache-')),
    npm_config_fund: 'false',
    npm_config_audit: 'false',
  };
}

/** A folder on disk, because some machines forbid executing programs in memory-backed folders. */
export function emptyFolder(name: string): string {
  return mkdtempSync(join(lastingFolder(), `package-${name}-`));
}

/** Installs the packed package with a set of its peers, strictly, and compiles the host of the tests against them. */
export function installed(
  packed: Installation,
  { peers, host }: PeerSet,
  cache: Record<string, string>,
): Installation {
  const folder = emptyFolder('peers');
  cpSync(join(packed.folder, 'package.tgz'), join(folder, 'package.tgz'));
  const root = manifestIn(REPOSITORY);
  const known: Manifest['dependencies'] = { ...root.dependencies, ...root.devDependencies };
  const others = Object.fromEntries(OF_THE_HOST.map((name) => [name, known[name]]));
  const dependencies = { [PACKAGE]: 'file:package.tgz', ...others, ...peers, ...host, 'sql.js': '1.16.0' };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', private: true, dependencies }),
  );
  // Not what `npm run` of the repository has told its children, such as `engine-strict`.
  const env = { PATH: process.env['PATH'], HOME: folder, ...cache };
  execFileSync('npm', ['install', '--strict-peer-deps'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  compileHost(folder);
  return installationIn(folder);
}

/** Every package that npm has put somewhere, with all its versions, as `npm ls` tells them. */
export function copiesOf(names: readonly string[], folder: string): Record<string, string[]> {
  const list = execFileSync('npm', ['ls', '--all', '--parseable', '--long'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const places = list.split('\n').map((line) => line.split(':'));
  const copies = (name: string) =>
    places.flatMap(([path = '', id = '']) => (path.endsWith(`/node_modules/${name}`) ? [id] : []));
  return Object.fromEntries(names.map((name) => [name, copies(name)]));
}

function compileHost(folder: string): void {
  for (const path of SOURCES) {
    mkdirSync(join(folder, path), { recursive: true });
    cpSync(join(REPOSITORY, path), join(folder, path), { recursive: true });
  }
  const shared = JSON.parse(readFileSync(join(REPOSITORY, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: Record<string, unknown>;
  };
  const compilerOptions = { ...shared.compilerOptions, types: ['node'], rootDir: '.', outDir: 'dist' };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: SOURCES }));
  const compiler = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', folder], { stdio: ['ignore', 'pipe', 'pipe'] });
}
