// Describes the commands of svc-admin in Markdown, as their help has them; docs/commands.md is held against it.

/** What is above it is written by hand. */
export const START = '<!-- What follows is written by scripts/command-reference.mjs. -->';

/** The commands that do something, in the order of the program. */
export function leavesOf(command, words = []) {
  if (command.commands.length === 0) return [{ name: words.join(' '), command }];
  return command.commands.flatMap((child) => leavesOf(child, [...words, child.name()]));
}

/** The examples that the help of a command ends with. */
export function examplesOf(command) {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const [, examples = ''] = help.split('\nExample:\n');
  return examples.replace(/^ {2}/gm, '').trimEnd();
}

/** The reference in Markdown. */
export function commandReference(program) {
  return leavesOf(program).map(sectionOf).join('\n');
}

function sectionOf({ name, command }) {
  const description = command.description();
  const shown = command.options.filter(({ hidden }) => !hidden);
  const rows = [
    ...command.registeredArguments.map((argument) => row(argumentText(argument), argument.description, '')),
    ...shown.map((option) => row(option.flags, meaningOf(option), defaultOf(option))),
  ];
  const table = ['| Option | Meaning | Default |', '|---|---|---|', ...rows, ''];
  return [
    `### ${name}\n`,
    `${description[0].toUpperCase()}${description.slice(1)}.\n`,
    ...(rows.length === 0 ? [] : [table.join('\n')]),
    `\`\`\`sh\n${examplesOf(command)}\n\`\`\`\n`,
  ].join('\n');
}

function argumentText(argument) {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

function meaningOf({ description, mandatory, argChoices }) {
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
  return `${description}${choices}${mandatory ? ' (required)' : ''}`;
}

function defaultOf({ defaultValue, negate }) {
  return defaultValue === undefined || negate || defaultValue === '' ? '' : String(defaultValue);
}

function row(name, meaning, standard) {
  const cell = (text) => text.replaceAll('|', '\\|');
  const code = standard === '' ? '' : `\`${standard}\``;
  return `| \`${cell(name)}\` | ${cell(meaning)} | ${code} |`;
}
