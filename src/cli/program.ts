// The admin command line as a whole: its commands, and what exit codes and error lines say.
import { Command, CommanderError } from 'commander';
import { ConfigurationError } from '../config/load-config.js';
import type { CliContext } from './cli-context.js';
import type { CommandContext } from './command-context.js';
import { CommandError } from '../administration/command-error.js';
import { addAuditCommands } from './audit.command.js';
import { reasonOf } from './reason.js';
import { CommandSettings } from './command-settings.js';
import { addConfigCommands } from './config.command.js';
import { addCredentialsCommands } from './credentials.command.js';
import { addKeysCommands } from './keys.command.js';
import { addLicenseCommands } from './license.command.js';
import { addMigrateCommand } from './migrate.command.js';
import { addTokenCommands } from './token.command.js';
import { addUsersCommands } from './users.command.js';
import { addWorkflowsCommands } from './workflows.command.js';

const DONE = 0;
const FAILED = 1;
const MISUSED = 2;

/**
 * Runs one command.
 * @param args without the names of program and script
 * @returns the exit code: 0 done, 1 the command could not do its work, 2 it was called wrongly
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  try {
    await createProgram(context).parseAsync(args, { from: 'user' });
    return DONE;
  } catch (error) {
    // It has told its user already, be it a fault or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : MISUSED;
    context.stderr.write(`${explanationOf(error)}\n`);
    return FAILED;
  }
}

function createProgram(surroundings: CliContext): Command {
  const program = new Command('svc-admin');
  const settings = new CommandSettings(surroundings, () => program.opts<{ envFile?: string }>().envFile);
  const context: CommandContext = { ...surroundings, settings };
  configure(program, context);
  addLicenseCommands(program, context);
  addConfigCommands(program, context);
  addKeysCommands(program, context);
  addUsersCommands(program, context);
  addWorkflowsCommands(program, context);
  addCredentialsCommands(program, context);
  addAuditCommands(program, context);
  addMigrateCommand(program, context);
  addTokenCommands(program, context);
  return program;
}

/** Must come before the commands are added, which inherit from the program. */
function configure(program: Command, { version, stdout, stderr }: CommandContext): void {
  program
    .description(
      'Administers an instance: its licence, configuration, trusted keys, users, workflows, sealed secrets, audit trail and database.',
    )
    .version(version)
    .option('--env-file <file>', 'file of SVC_* variables; the real environment wins, ./.env comes last')
    .addHelpText('after', '\nExample:\n  svc-admin --env-file production.env users list')
    .exitOverride()
    .showHelpAfterError('(add --help to see how it is used)')
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    });
}

function explanationOf(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  return `error: ${error instanceof CommandError ? error.message : reasonOf(error)}`;
}
