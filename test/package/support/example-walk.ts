// Follows the README of an example as a reader does, command by command, in an empty folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text as allOf } from 'node:stream/consumers';
import { freePort } from '../../../demo/free-port.js';
import { REPOSITORY, repositoryFile } from '../../support/source-files.js';
import type { EmptyDatabase } from './empty-database.js';
import type { Installation } from './packed-package.js';
import { manifestIn, PACKAGE } from './packed-package.js';

export const EXAMPLES = ['own-product', 'with-defaults'] as const;
export type Example = (typeof EXAMPLES)[number];

const DOCUMENTED_PORT = '3000';
/** The first block of the README leads to the first exchange; the others go on from there. */
const COMMANDS = /```sh\n([\s\S]*?)```/g;

export interface Walk {
  readonly exitCode: number | null;
  /** All that the commands and the product have printed. */
  readonly output: string;
  /** The folder in which it has happened. */
  readonly folder: string;
}

/** Each of the commands that lead to the first exchange. A line that ends in a backslash goes on. */
export function commandsOf(example: Example): string[] {
  const [first = ''] = blocksOf(example);
  return first.replaceAll('\\\n', ' ').trim().split('\n');
}

/**
 * @param parent where the empty folder is made
 * @param environment npm's variables, such as an empty cache. Without it, nothing is installed and links are used
 */
export async function walkThrough(
  example: Example,
  installation: Installation,
  database: EmptyDatabase,
  parent: string,
  environment?: Record<string, string>,
): Promise<Walk> {
  const folder = mkdtempSync(join(parent, `${example}-`));
  const port = String(await freePort());
  const commands = blocksOf(example).join('').replaceAll(`:${DOCUMENTED_PORT}/`, `:${port}/`);
  const isLinked = environment === undefined;
  if (isLinked) linkPackages(example, installation, folder);
  const script = [
    // As in a reader's own shell, jobs are groups of processes: the end of one reaches the product behind `npm start`.
    'set -emo pipefail',
    "trap 'kill %1; wait' EXIT",
    isLinked ? commands.replace(/^npm install$/m, '') : commands,
  ].join('\n');
  const env = { PATH: process.env['PATH'], HOME: folder, NO_COLOR: '1', PORT: port, ...environment };
  const shell = spawn('bash', ['-c', withGivenPlaces(script, installation, database)], { cwd: folder, env });
  const output = Promise.all([allOf(shell.stdout), allOf(shell.stderr)]);
  const [exitCode] = (await once(shell, 'close')) as [number | null];
  return { exitCode, output: (await output).join('\n'), folder };
}

/** A reader writes the places of the repository and of the database there. */
function withGivenPlaces(script: string, installation: Installation, database: EmptyDatabase): string {
  const repository = pretendedRepository(installation);
  return script.replace(
    /^export REPOSITORY=\S+ DATABASE_URL=\S+$/m,
    `export REPOSITORY='${repository}' DATABASE_URL='${database.url}'`,
  );
}

/** The parts of the repository that a reader needs: the examples and the package. */
function pretendedRepository({ folder }: Installation): string {
  const repository = mkdtempSync(join(folder, 'repository-'));
  for (const example of EXAMPLES) {
    const path = join('examples', example);
    const isOurs = (source: string) => !/node_modules|\/dist(\/|$)|\.tgz$|\.pem$/.test(source);
    cpSync(join(REPOSITORY, path), join(repository, path), { recursive: true, filter: isOurs });
  }
  cpSync(join(folder, 'package.tgz'), join(repository, 'embedded-token-exchange-nestjs-0.0.0.tgz'));
  return repository;
}

/** Just those packages that the example asks for. */
function linkPackages(example: Example, installation: Installation, folder: string): void {
  const { dependencies, devDependencies } = manifestIn(join(REPOSITORY, 'examples', example));
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const origin = name === PACKAGE ? installation.folder : REPOSITORY;
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(origin, 'node_modules', name), place, 'dir');
  }
  mkdirSync(join(folder, 'node_modules', '.bin'));
  symlinkSync(join('..', 'typescript', 'bin', 'tsc'), join(folder, 'node_modules', '.bin', 'tsc'));
}

function blocksOf(example: Example): string[] {
  const { text } = repositoryFile(`examples/${example}/README.md`);
  return [...text.matchAll(COMMANDS)].map(([, block = '']) => block);
}
