// The admin command line: its commands, exit codes and error messages.
import { Command, CommanderError, Help } from 'commander';
import { CommandError } from '../administration/operation.js';
import { addAuditCommands } from './audit.command.js';
import { addClientsCommands } from './clients.command.js';
import type { CliContext, CommandContext } from './command-context.js';
import { Answers, CommandSettings, InPlaceError, MisuseError } from './command-context.js';
import { addConfigCommands } from './config.command.js';
import { addCredentialsCommands, addDataCommands, addMigrateCommand } from './database.command.js';
import { addInitCommand } from './init.command.js';
import { addKeysCommands } from './keys.command.js';
import { addLicenseCommands } from './license.command.js';
import { addPartnersCommands } from './partners.command.js';
import { addProjectsCommands, addWorkflowsCommands } from './projects.command.js';
import { addSignalsCommands } from './signals.command.js';
import { addTokenCommands } from './token.command.js';
import { addUsageCommand } from './usage.command.js';
import { addUsersCommands } from './users.command.js';

const DONE = 0;
const FAILED = 1;
const MISUSED = 2;
const IN_PLACE = 3;

/**
 * Runs one command.
 * @param args the arguments, without program and script
 * @returns the exit code: 0 done, 1 refused or failed, 2 wrong usage, 3 files or an owner exist already
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  // Works even if the command line cannot be parsed.
  const answers = new Answers(context, args.includes('--json'));
  try {
    await createProgram(context, answers).parseAsync(args, { from: 'user' });
    return DONE;
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (error instanceof CommanderError) reportMisuse(error, answers);
    else answers.fail(error, exitCode);
    return exitCode;
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : MISUSED;
  if (error instanceof MisuseError) return MISUSED;
  return error instanceof InPlaceError ? IN_PLACE : FAILED;
}

/** Commander has already printed the error or the help for people. */
function reportMisuse({ code, message, exitCode }: CommanderError, answers: Answers): void {
  if (exitCode === 0 || !answers.isJson) return;
  const text = code === 'commander.help' ? 'a command is missing; see --help' : message;
  answers.fail(new CommandError(text.replace(/^error: /, '')), MISUSED);
}

/** The command line with all commands. The documentation reads it too. */
export function createProgram(surroundings: CliContext, answers: Answers): Command {
  const program = new Command('svc-admin');
  const settings = new CommandSettings(surroundings, () => program.opts<{ envFile?: string }>().envFile);
  const context: CommandContext = { ...surroundings, settings, answers };
  configure(program, context);
  addInitCommand(program, context);
  addLicenseCommands(program, context);
  addConfigCommands(program, context);
  addPartnersCommands(program, context);
  addKeysCommands(program, context);
  addClientsCommands(program, context);
  addSignalsCommands(program, context);
  addUsersCommands(program, context);
  addProjectsCommands(program, context);
  addWorkflowsCommands(program, context);
  addCredentialsCommands(program, context);
  addAuditCommands(program, context);
  addMigrateCommand(program, context);
  addDataCommands(program, context);
  addTokenCommands(program, context);
  addUsageCommand(program, context);
  return program;
}

/** Call it before the commands are added: they inherit from the program. */
function configure(program: Command, { version, stdout, stderr, answers }: CommandContext): void {
  program
    .description(
      'Sets up and administers an instance: its licence, configuration, trusted keys, users, projects, workflows, sealed secrets, audit trail ' +
        'and database.',
    )
    .version(version)
    .option(
      '--env-file <file>',
      'file of SVC_* variables; the environment overrides it, and it overrides ./.env',
    )
    .option(
      '--json',
      'print the result as one JSON document (JSON lines for endless lists), and errors as JSON',
    )
    .configureHelp({
      showGlobalOptions: true,
      optionDescription: (option) =>
        new Help().optionDescription(option) + (option.mandatory ? ' (required)' : ''),
    })
    .addHelpText('after', '\nExample:\n  svc-admin --env-file production.env users list')
    .exitOverride()
    .showHelpAfterError(answers.isJson ? false : '(add --help to see how it is used)')
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void (answers.isJson || stderr.write(text)),
    });
}
