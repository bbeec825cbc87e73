// The reference of docs/commands.md: every command of svc-admin with its arguments, options and examples, as its help has them.
import type { Argument, Command, Option } from 'commander';
import { Answers } from '../../src/cli/answers.js';
import { createProgram } from '../../src/cli/program.js';
import { table } from './blocks.js';

export const COMMAND_BLOCKS = { commands: () => commandReference(wholeProgram()) };

/** The program, for its help alone. */
export function wholeProgram(): Command {
  const quiet = { write: () => undefined };
  const surroundings = {
    ...{ environment: {}, workingDirectory: '', stdin: { read: () => '' }, version: '' },
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
  return leavesOf(program).map(sectionOf).join('\n\n');
}

function sectionOf({ name, command }: { name: string; command: Command }): string {
  const description = command.description();
  const shown = command.options.filter(({ hidden }) => !hidden);
  const rows = [
    ...command.registeredArguments.map((argument) => row(argumentText(argument), argument.description, '')),
    ...shown.map((option) => row(option.flags, meaningOf(option), defaultOf(option))),
  ];
  return [
    `### ${name}`,
    `${description.charAt(0).toUpperCase()}${description.slice(1)}.`,
    ...(rows.length === 0 ? [] : [table(['Option', 'Meaning', 'Default'], rows)]),
    `\`\`\`sh\n${examplesOf(command)}\n\`\`\``,
  ].join('\n\n');
}

function argumentText(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

function meaningOf({ description, mandatory, argChoices }: Option): string {
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
  return `${description}${choices}${mandatory ? ' (required)' : ''}`;
}

function defaultOf({ defaultValue, negate }: Option): string {
  return defaultValue === undefined || negate || defaultValue === '' ? '' : `\`${String(defaultValue)}\``;
}

function row(name: string, meaning: string, standard: string): string[] {
  return [`\`${name}\``, meaning, standard];
}
