// Reads the command line of the service's own start: an env file to begin with, or something to print instead of starting.
import { parseArgs } from 'node:util';
import { VERSION } from '../platform/version.js';

/** What the words after the program's name ask for. */
interface StartCommand {
  /** The path of `--env-file`. */
  readonly envFile?: string;
  /** The text to print instead of a start. */
  readonly answer?: string;
}

/** Thrown for unknown words. Its message names them, and says how to get help. */
export class CommandLineError extends Error {
  constructor(message: string) {
    super(`error: ${message}\n(add --help to see how it is used)`);
    this.name = 'CommandLineError';
  }
}

/** Worded as svc-admin words its own. */
const HELP = `Usage: node dist/src/main.js [options]
       npm start -- [options]

Starts the service. The variables SVC_* configure the rest: docs/configuration.md lists them.

Options:
  --env-file <file>  file of SVC_* variables; the real environment wins, ./.env comes last
  -V, --version      output the version number
  -h, --help         display help for command
`;

/**
 * @param args without the names of program and script
 * @throws CommandLineError
 */
export function readCommandLine(args: readonly string[]): StartCommand {
  const { 'env-file': envFile, version, help } = optionsOf(args);
  if (help === true) return { answer: HELP };
  if (version === true) return { answer: `${VERSION}\n` };
  return { envFile };
}

function optionsOf(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        'env-file': { type: 'string' },
        version: { type: 'boolean', short: 'V' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: false,
    }).values;
  } catch (error) {
    throw new CommandLineError((error as Error).message);
  }
}
