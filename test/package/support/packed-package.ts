// The packed package, unpacked next to its dependencies, and a host that is compiled against it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastingFolder } from '../../support/run-folder.js';
import { REPOSITORY, repositoryFile, repositoryFiles } from '../../support/source-files.js';

const PREPARATION = join(REPOSITORY, 'test', 'package', 'support', 'prepare.mjs');
const FOLDERS = ['src/token-exchange', 'src/platform', 'examples', 'test/package/host'];
const FILES = [
  'CHANGELOG.md',
  'package-lock.json',
  'scripts/build-package.mjs',
  'scripts/package-folders.mjs',
  'test/package/support/prepare.mjs',
  'tsconfig.json',
];

export const PACKAGE = '@embedded-token-exchange/nestjs';

/** Of a package.json, what the tests read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** A folder in which the package is installed, and its compiled host. */
export interface Installation {
  readonly folder: string;
  /** The programs of test/package/host, compiled. */
  readonly hosts: string;
}

let prepared: Installation | undefined;

/** Its name tells the state of the sources, so that it is made once; the first test that asks waits for it. */
export function preparedInstallation(): Installation {
  return (prepared ??= prepare());
}

function prepare(): Installation {
  const owner = process.getuid?.() ?? 'user';
  const folder = join(lastingFolder(), `svc-test-${owner}-package-${stateOfSources()}`);
  execFileSync(process.execPath, [PREPARATION, folder], { stdio: ['ignore', 'ignore', 'pipe'] });
  return installationIn(folder);
}

export function installationIn(folder: string): Installation {
  return { folder, hosts: join(folder, 'dist', 'test', 'package', 'host') };
}

/** Where the package lies within an installation. */
export function homeOf({ folder }: Installation): string {
  return join(folder, 'node_modules', PACKAGE);
}

export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function stateOfSources(): string {
  // Its links lead into this checkout, and another may have the same sources.
  const hash = createHash('sha256').update(REPOSITORY).update('\0');
  const files = [...FOLDERS.flatMap((folder) => repositoryFiles(folder)), ...FILES.map(repositoryFile)];
  for (const { path, text } of files) hash.update(path).update('\0').update(text);
  return hash.digest('hex').slice(0, 16);
}
