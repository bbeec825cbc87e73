// Reads and writes the small files that commands are given by path.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CommandError } from '../administration/command-error.js';
import { JsonError, explainJsonError, parseStrictJson } from '../platform/json/strict-json.js';
import type { CommandContext } from './command-settings.js';

/** The folder of relative paths. */
type PathContext = Pick<CommandContext, 'workingDirectory'>;

interface WriteOptions {
  /** Whether a file that is there already may be replaced. */
  readonly force?: boolean;
  /** Readable and writable by its owner only. */
  readonly isPrivate?: boolean;
  /** Makes the folder too, if it is not there. */
  readonly withFolder?: boolean;
}

/** @throws CommandError when the file cannot be read */
export function readTextFile({ workingDirectory }: PathContext, path: string): string {
  try {
    return readFileSync(resolve(workingDirectory, path), 'utf8');
  } catch (error) {
    throw new CommandError(`${path} cannot be read (${codeOf(error)})`);
  }
}

/**
 * The JSON of a file, or of standard input where the path is `-`.
 * @param what it is to hold: `one entry`
 * @throws CommandError where it is not JSON
 */
export function readJsonFile(context: CommandContext, path: string, what: string): unknown {
  const text = path === '-' ? context.stdin.read() : readTextFile(context, path);
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(`${inputName(path)} is not ${what}: ${explainJsonError(error, text)}`);
  }
}

export function inputName(path: string): string {
  return path === '-' ? 'Standard input' : path;
}

/**
 * Writes a file whole or not at all: it is filled under another name, where its mode holds from the first byte.
 * @throws CommandError when it is there already, or cannot be written
 */
export function writeTextFile(
  context: PathContext,
  path: string,
  text: string,
  options: WriteOptions = {},
): void {
  refuseExisting(context, path, options);
  const target = resolve(context.workingDirectory, path);
  const draft = `${target}.${randomUUID()}`;
  try {
    if (options.withFolder === true) mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { flag: 'wx', flush: true, mode: options.isPrivate === true ? 0o600 : 0o644 });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new CommandError(`${path} cannot be written (${codeOf(error)})`);
  }
}

/** @throws CommandError when the file is there and may not be replaced */
export function refuseExisting(
  { workingDirectory }: PathContext,
  path: string,
  { force }: WriteOptions,
): void {
  if (force === true || !existsSync(resolve(workingDirectory, path))) return;
  throw new CommandError(`${path} exists already; --force replaces it`);
}

/** The code of the system's error. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown fault';
}
