// The reference of docs/reference/commands.md: every command of svc-admin with its arguments, as its help has them.
import type { Argument, Command } from 'commander';
import { Answers } from '../../src/cli/command-answers.js';
import { createProgram } from '../../src/cli/program.js';
import { list } from './blocks.js';

export const COMMAND_BLOCKS = { commands: () => commandReference(wholeProgram()) };

/** The program, for its help alone. */
export function wholeProgram(): Command {
  const quiet = { write: () => undefined };
  const surroundings = {
    ...{ environment: {}, workingDirectory: '', stdin: { read: () => Buffer.of() }, version: '' },
    ...{ stdout: quiet, stderr: quiet },
  };
  return createProgram(surroundings, new Answers(surroundings, false));
}

/** The commands that do something, in the order of the program. */
export function leavesOf(
  command: Command,
  words: readonly string[] = [],
): { name: string; command: Command }[] {
  if (command.commands.length === 0) return [{ name: words.join(' '), command }];
  return command.commands.flatMap((child) => leavesOf(child, [...words, child.name()]));
}

/** The examples that the help of a command ends with. */
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
  // The rest of a description is for those who read the help.
  const [description = ''] = command.description().split('; ');
  return [`\`${words.join(' ')}\``, description];
}

function argumentText(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}
