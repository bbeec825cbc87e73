// The reference in docs/reference/commands.md: every svc-admin command with its arguments, as in its help.
import type { Argument, Command } from 'commander';
import { Answers } from '../../src/cli/command-context.js';
import { createProgram } from '../../src/cli/program.js';
import { list } from './blocks.js';

export const COMMAND_BLOCKS = { commands: () => commandReference(wholeProgram()) };

/** Creates the program to read its help. It cannot run commands. */
export function wholeProgram(): Command {
  const quiet = { write: () => undefined };
  const surroundings = {
    ...{ environment: {}, workingDirectory: '', stdin: { read: () => Buffer.of() }, version: '' },
    ...{ stdout: quiet, stderr: quiet },
  };
  return createProgram(surroundings, new Answers(surroundings, false));
}

/** The commands without subcommands, in the program's order. */
export function leavesOf(
  command: Command,
  words: readonly string[] = [],
): { name: string; command: Command }[] {
  if (command.commands.length === 0) return [{ name: words.join(' '), command }];
  return command.commands.flatMap((child) => leavesOf(child, [...words, child.name()]));
}

/** The examples at the end of a command's help. */
export function examplesOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const [, examples = ''] = help.split('\nExample:\n');
  return examples.replace(/^ {2}/gm, '').trimEnd();
}

function commandReference(program: Command): string {
  return list(leavesOf(program).map(rowOf));
}

function rowOf({ name, command }: { name: string; command: Command }): [string, string] {
  const words = [name, ...command.registeredArguments.map(argumentText)];
  // Only the help shows the rest of a description.
  const [description = ''] = command.description().split('; ');
  return [`\`${words.join(' ')}\``, description];
}

function argumentText(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}
