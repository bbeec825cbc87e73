// The kinds of environment variable: how a text becomes a value, and how that is described to people.

/**
 * The result of a parser: the value, perhaps with an effect that its author may not expect; or the rule that the text breaks.
 * Neither repeats the text itself: it may be secret.
 */
export type Parsed<T> = { value: T; remark?: string } | { problem: string };

/** One row of the configuration table. */
export interface EnvironmentVariable<T = unknown> {
  readonly name: string;
  /** An older or customary name that is read when `name` is not set. */
  readonly alias?: string;
  readonly description: string;
  /** The default as a person would type it; absent where there is none. */
  readonly default?: string;
  /** The accepted values in words. */
  readonly range?: string;
  /** Whether the value is never shown. */
  readonly isSecret?: true;
  /** The value when neither the variable nor a default is there. */
  readonly absent: T;
  parse(text: string): Parsed<T>;
}

interface Description {
  description: string;
  alias?: string;
  isSecret?: true;
}

/** Both ends are included. */
interface Range {
  min: number;
  max: number;
}

/** A switch that is on for exactly `true` and off for everything else (D40). */
export function exactFlag(name: string, description: Description): EnvironmentVariable<boolean> {
  return {
    name,
    ...description,
    default: 'false',
    range: 'exactly `true`; anything else is off',
    absent: false,
    parse: parseExactFlag,
  };
}

/** What only looks like the word that counts leaves the switch off, which its author should hear of. */
function parseExactFlag(text: string): Parsed<boolean> {
  if (text === 'true' || text === 'false') return { value: text === 'true' };
  return {
    value: false,
    remark:
      'is set, but turns the feature on only as exactly true: in small letters, without quotes or blanks',
  };
}

/** `true` or `false`, nothing else. */
export function boolean(
  name: string,
  { default: standard, ...description }: Description & { default: boolean },
): EnvironmentVariable<boolean> {
  return {
    name,
    ...description,
    default: String(standard),
    range: '`true` or `false`',
    absent: standard,
    parse(text) {
      if (text === 'true' || text === 'false') return { value: text === 'true' };
      return { problem: 'must be true or false' };
    },
  };
}

/** A whole number within a range. */
export function integer(
  name: string,
  { default: standard, min, max, ...description }: Description & Range & { default: number },
): EnvironmentVariable<number> {
  return {
    name,
    ...description,
    default: String(standard),
    range: `${min} to ${max}`,
    absent: standard,
    parse(text) {
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return { value };
      return { problem: `must be a whole number from ${min} to ${max}` };
    },
  };
}

/** One of a few words. */
export function choice<const T extends string>(
  name: string,
  { values, ...description }: Description & { default: T; values: readonly T[] },
): EnvironmentVariable<T> {
  return {
    name,
    ...description,
    range: values.map((value) => `\`${value}\``).join(', '),
    absent: description.default,
    parse(text) {
      const value = values.find((candidate) => candidate === text);
      return value === undefined ? { problem: `must be one of ${values.join(', ')}` } : { value };
    },
  };
}

/**
 * What an env file, a shell or an editor left at a text would count as a part of it.
 * Such a text is refused (D32): a folder with a quote in its name is another folder, and empty.
 */
function parseLine(value: string): Parsed<string> {
  if (/^["'`].*["'`]$/s.test(value))
    return { problem: 'has quotes around it, which would be part of the value' };
  if (/^[\s\p{Cf}]|[\s\p{Cf}]$/u.test(value))
    return { problem: 'begins or ends with a blank, or with the end of a line' };
  return /\p{Cc}/u.test(value) ? { problem: 'contains a control character' } : { value };
}

/** A text of one line; `check` may refuse it with the rule that it breaks. */
export function text(
  name: string,
  { check, ...description }: Description & { range?: string; check?: (text: string) => string | undefined },
): EnvironmentVariable<string | undefined> {
  return {
    name,
    ...description,
    absent: undefined,
    parse(value) {
      const parsed = parseLine(value);
      const problem = 'value' in parsed ? check?.(value) : undefined;
      return problem === undefined ? parsed : { problem };
    },
  };
}

/** A text with a default. */
export function textWithDefault(
  name: string,
  description: Description & { default: string },
): EnvironmentVariable<string> {
  return { name, ...description, absent: description.default, parse: parseLine };
}

/** A text of many lines, such as PEM, which its reader checks. */
export function textDocument(
  name: string,
  description: Description,
): EnvironmentVariable<string | undefined> {
  return { name, ...description, absent: undefined, parse: (value) => ({ value }) };
}

interface LineRules<T> {
  readonly range: string;
  readonly line: (text: string) => Parsed<T>;
  /** May refuse all lines together, with the rule that they break. */
  readonly check?: (lines: readonly T[]) => string | undefined;
}

/** A list with one member in each line; empty lines are skipped. */
export function lines<T>(
  name: string,
  { line, check, ...description }: Description & LineRules<T>,
): EnvironmentVariable<readonly T[]> {
  return {
    name,
    ...description,
    absent: [],
    parse(value) {
      const members: T[] = [];
      for (const [index, text] of value.split(/\r?\n/).entries()) {
        if (text.trim() === '') continue;
        const parsed = line(text);
        if ('problem' in parsed) return { problem: `line ${index + 1} ${parsed.problem}` };
        members.push(parsed.value);
      }
      const problem = check?.(members);
      return problem === undefined ? { value: members } : { problem };
    },
  };
}

interface ListRules<T> {
  readonly range: string;
  readonly member: (text: string) => Parsed<T>;
  /** May refuse all members together, with the rule that they break. */
  readonly check?: (members: readonly T[]) => string | undefined;
}

/** A comma-separated list; blanks around the members are dropped, empty members refused. */
export function list<T>(
  name: string,
  { member, check, ...description }: Description & ListRules<T>,
): EnvironmentVariable<readonly T[]> {
  return {
    name,
    ...description,
    absent: [],
    parse(value) {
      const whole = parseLine(value.trim());
      if ('problem' in whole) return whole;
      const members: T[] = [];
      for (const [index, part] of value.split(',').entries()) {
        const line = parseLine(part.trim());
        const parsed = 'value' in line ? member(line.value) : line;
        if ('problem' in parsed) return { problem: `member ${index + 1} ${parsed.problem}` };
        members.push(parsed.value);
      }
      const problem = check?.(members);
      return problem === undefined ? { value: members } : { problem };
    },
  };
}
