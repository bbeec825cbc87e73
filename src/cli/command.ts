// Adds commands to the command line, those that are declared with their operations and others, and reads the values of options.
import type { Command } from 'commander';
import { Argument, InvalidArgumentError } from 'commander';
import type { Operation } from '../administration/operation.js';
import { momentOf } from '../platform/text/moment.js';
import { MAX_KID_BYTES } from '../token-exchange/instance.js';
import { checkedInput, perform, readList } from './administration.js';
import type { CommandContext } from './command-context.js';
import { withProgress } from './terminal.js';

/** What a command does besides its operation. Parameters are of the types that the operation has. */
interface Besides {
  /**
   * The input, from what was typed: arguments by the members of the input that they are, and options by the names that commander
   * gives them. Left out: that itself.
   */
  readonly input?: (typed: never) => unknown;
  /** What a person is told while it lasts. */
  readonly doing?: (input: never) => string;
  /** Once the answer is given. */
  readonly after?: (answer: never, input: never) => void | Promise<void>;
}

/**
 * Adds a command.
 * @param example what is typed behind `svc-admin`
 * @param more what help says above the example
 */
export function addCommand(
  parent: Command,
  name: string,
  about: string,
  example: string,
  more?: string,
): Command {
  const above = more === undefined ? '' : `\n${more}\n`;
  return parent
    .command(name)
    .description(about)
    .addHelpText('after', `${above}\nExample:\n  svc-admin ${example}`);
}

/** Adds the command that is declared with an operation. Options that are added to it are members of the input. */
export function addOperation(
  parent: Command,
  context: CommandContext,
  operation: Operation,
  besides: Besides = {},
): Command {
  const { name, command: declared } = operation;
  if (declared === undefined) throw new Error(`no command is declared for ${name}`);
  const { about, takes = {}, example, more } = declared;
  const shown = [name, ...(example === undefined ? [] : [example])].join(' ');
  const command = addCommand(parent, name.split(' ').at(-1) ?? name, about, shown, more);
  for (const [flags, what, choices] of Object.values(takes)) {
    const argument = new Argument(flags, what);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  return command.action((...values: unknown[]) => {
    const given = Object.keys(takes).map((member, index) => [member, values[index]] as const);
    const typed = { ...Object.fromEntries<unknown>(given), ...command.opts<object>() };
    return run(context, operation, typed, besides);
  });
}

async function run(
  context: CommandContext,
  operation: Operation,
  typed: object,
  { input: inputOf = (same) => same, doing, after }: Besides,
): Promise<void> {
  const input = checkedInput(operation, await inputOf(typed as never));
  const asking =
    'change' in operation ? perform(context, operation, input) : readList(context, operation, input);
  const answer = await (doing === undefined ? asking : withProgress(context, doing(input as never), asking));
  const { command } = operation;
  const value = command?.json === undefined ? answer : command.json(answer as never, input);
  const text = () => command?.text(answer as never, input) ?? '';
  if (command?.nothing === undefined) context.answers.give(value, text());
  else context.answers.giveList(value as readonly unknown[], text, command.nothing);
  await after?.(answer as never, input as never);
}

/** A parser of whole numbers within a range, both ends included. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** A `kid` that an entry can have: an empty variable of a script is none. */
export function usableKid(text: string): string {
  if (text !== '' && Buffer.byteLength(text) <= MAX_KID_BYTES) return text;
  throw new InvalidArgumentError(`It must have 1 to ${MAX_KID_BYTES} bytes.`);
}

/** A moment of ISO 8601: a date, which begins at midnight UTC, or date and time with their zone. */
export function isoMoment(text: string): Date {
  const moment = momentOf(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError('It must be a date such as 2031-05-01 or 2031-05-01T12:00:00Z.');
}

/** A parser of comma-separated lists of some known words, which are kept once each. */
export function listOf<const T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) => {
    const words = text.split(',').map((word) => word.trim());
    const found = known.filter((word) => words.includes(word));
    if (words.every((word) => known.some((other) => other === word))) return found;
    throw new InvalidArgumentError(`Known are ${known.join(', ')}; several are separated by commas.`);
  };
}

/** Collects `name=json` options. */
export function jsonMember(text: string, earlier: readonly [string, unknown][] = []): [string, unknown][] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=json.');
  try {
    return [...earlier, [text.slice(0, at), JSON.parse(text.slice(at + 1))]];
  } catch {
    throw new InvalidArgumentError('What follows = must be JSON; a text has its quotes: team=\'"sales"\'.');
  }
}
