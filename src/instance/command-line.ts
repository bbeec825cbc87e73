// Parses the command line of the service: an env file, or a request to print something instead of starting.
import { parseArgs } from 'node:util';
import { StartError } from '../platform/start-error.js';
import { VERSION } from '../platform/version.js';

interface StartCommand {
  readonly envFile?: string;
  /** The text to print instead of starting. */
  readonly answer?: string;
}

const EXIT_MISUSED = 2;

const OPTIONS = {
  'env-file': { type: 'string' },
  version: { type: 'boolean', short: 'V' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Worded like svc-admin's help. */
const HELP = `Usage: embedded-token-exchange [options, or those of svc-admin init]
       npm start -- [options]

Starts the service. The variables SVC_* configure the rest: docs/reference/settings.md lists them. Where nothing is configured, and with options
of \`svc-admin init\`, embedded-token-exchange runs that first.

Options:
  --env-file <file>  file of SVC_* variables; the real environment wins, ./.env comes last
  -V, --version      output the version number
  -h, --help         display help for command
`;

/**
 * @param args without the names of program and script
 * @throws StartError for unknown arguments, which its message names
 */
export function readCommandLine(args: readonly string[]): StartCommand {
  const { 'env-file': envFile, version, help } = optionsOf(args);
  if (help === true) return { answer: HELP };
  if (version === true) return { answer: `${VERSION}\n` };
  return { envFile };
}

/**
 * Whether to run `svc-admin init` with these arguments before the start: none of them is an option of the
 * start, and there are arguments, or nothing is configured.
 */
export function isForInit(
  args: readonly string[],
  environment: Record<string, string | undefined>,
  hasEnvFile: boolean,
): boolean {
  const isConfigured = hasEnvFile || Object.keys(environment).some((name) => name.startsWith('SVC_'));
  const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: false });
  const isForStart = Object.keys(OPTIONS).some((name) => values[name] !== undefined);
  return !isForStart && (args.length > 0 || !isConfigured);
}

function optionsOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false }).values;
  } catch (error) {
    const text = `error: ${(error as Error).message}\n(add --help to see how it is used)`;
    throw new StartError(text, EXIT_MISUSED);
  }
}
