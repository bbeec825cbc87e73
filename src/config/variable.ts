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
    remark: 'is set, but counts only as exactly true: in small letters, without quotes or blanks',
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

/** A whole number within a range; there need be none. */
export function optionalInteger(
  name: string,
  description: Description & Range,
): EnvironmentVariable<number | undefined> {
  const { default: _none, ...variable } = integer(name, { ...description, default: description.min });
  return { ...variable, absent: undefined };
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

/** Any text; `check` may refuse it with the rule that it breaks. */
export function text(
  name: string,
  { check, ...description }: Description & { range?: string; check?: (text: string) => string | undefined },
): EnvironmentVariable<string | undefined> {
  return {
    name,
    ...description,
    absent: undefined,
    parse(value) {
      const problem = check?.(value);
      return problem === undefined ? { value } : { problem };
    },
  };
}

/** A text with a default. */
export function textWithDefault(
  name: string,
  description: Description & { default: string },
): EnvironmentVariable<string> {
  return { name, ...description, absent: description.default, parse: (value) => ({ value }) };
}

/** A comma-separated list; blanks around the members are dropped, empty members refused. */
export function list<T>(
  name: string,
  { member, ...description }: Description & { range: string; member: (text: string) => Parsed<T> },
): EnvironmentVariable<readonly T[]> {
  return {
    name,
    ...description,
    absent: [],
    parse(value) {
      const members: T[] = [];
      for (const [index, part] of value.split(',').entries()) {
        const parsed = member(part.trim());
        if ('problem' in parsed) return { problem: `member ${index + 1} ${parsed.problem}` };
        members.push(parsed.value);
      }
      return { value: members };
    },
  };
}
