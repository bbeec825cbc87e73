// Programs in other languages: whether they are on this machine, with what they need fetched into a folder for the run.
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeUnless } from '../../../support/describe-unless.js';
import { lastingFolder } from '../../../support/run-folder.js';
import { isWholeSeries } from '../../../support/series.js';
import { REPOSITORY } from '../../../support/source-files.js';

const PROGRAMS = join(REPOSITORY, 'test', 'long', 'clients', 'programs');
const FETCHING_MS = 600_000;
/** Some ask thousands of questions. */
const RUNNING_MS = 1_800_000;
const execute = promisify(execFile);

/** A program and its arguments. */
export type Command = readonly [program: string, ...string[]];

export const NPM_INSTALL: Command = ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts'];

/** A folder in which a program can run, or why it cannot. */
export type Prepared = { readonly folder: string } | { readonly reason: string };

/**
 * Copies a folder of programs and fetches what they need. At once, so that tests can be declared by what comes of it: nothing is
 * fetched within `npm test`, and a missing program is not a failure.
 * @param fetching commands that prepare the copy, in which they run
 */
export function prepared(name: string, fetching: readonly Command[]): Prepared {
  if (!isWholeSeries) return { reason: 'fetches packages, run it by `npm run test:long -- clients`' };
  // A folder on disk, because some machines forbid executing programs in memory-backed folders.
  const folder = mkdtempSync(join(lastingFolder(), `clients-${name}-`));
  cpSync(join(PROGRAMS, name), folder, { recursive: true });
  for (const [program, ...rest] of fetching) {
    const { error, status, stderr } = spawnSync(program, rest, {
      cwd: folder,
      encoding: 'utf8',
      timeout: FETCHING_MS,
    });
    if (error !== undefined) {
      if ('code' in error && error.code === 'ENOENT') return { reason: `${program} is not on this machine` };
      throw error;
    }
    if (status !== 0) return { reason: `${program} could not fetch what is needed: ${stderr.slice(-300)}` };
  }
  return { folder };
}

/** Declares tests of foreign programs. If they cannot run, declares one skipped test that says why. */
export function describePrepared(title: string, state: Prepared, block: (folder: string) => void): void {
  if ('folder' in state) describe(title, () => block(state.folder));
  else describeUnless(state.reason, title, () => undefined);
}

/** Runs a program to its end and returns its output. @throws Error with the output if the program fails */
export async function outputOf(
  [program, ...rest]: Command,
  folder: string,
  environment: Record<string, string> = {},
): Promise<string> {
  const env = { ...process.env, ...environment };
  const options = { cwd: folder, env, timeout: RUNNING_MS, maxBuffer: 64 * 1024 * 1024 };
  try {
    return (await execute(program, rest, options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}
