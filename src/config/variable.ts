// Environment variables: the schema of each value, and how a variable's string becomes the value.
import { z } from 'zod';

/** A row of the configuration table. The schema has the description and the default. */
export interface EnvironmentVariable<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly schema: S;
  /** An older or common name that is read if `name` is not set. */
  readonly alias?: string;
  /** The allowed values in words, if the schema does not imply them. */
  readonly range?: string;
  /** The value is never displayed. */
  readonly isSecret?: true;
  /** An unexpected effect of the string. */
  readonly remark?: (text: string) => string | undefined;
}

/**
 * A variable's value, or the rule that its string breaks. The rule never repeats the string, which may be
 * secret.
 */
export type Parsed<T> = { readonly value: T } | { readonly problem: string };

export function variable<S extends z.ZodType>(
  name: string,
  schema: S,
  more: Omit<EnvironmentVariable, 'name' | 'schema'> = {},
): EnvironmentVariable<S> {
  return { name, schema, ...more };
}

/**
 * A string of one line. Refuses quotes, spaces and line breaks that an env file, a shell or an editor left
 * around the value (D32). A stray quote would name another, empty folder.
 */
export function line() {
  return z.string().superRefine((value, context) => {
    const problem = lineProblem(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem, continue: false });
  });
}

function lineProblem(value: string): string | undefined {
  if (/^["'`].*["'`]$/s.test(value)) return 'has quotes around it, which would be part of the value';
  if (/^[\s\p{Cf}]|[\s\p{Cf}]$/u.test(value)) return 'begins or ends with a blank, or with the end of a line';
  return /\p{Cc}/u.test(value) ? 'contains a control character' : undefined;
}

/** A string with several lines, such as PEM, which its reader validates. */
export function lines() {
  return z.string().optional();
}

export function parseVariable<S extends z.ZodType>(
  { schema }: Pick<EnvironmentVariable<S>, 'schema'>,
  text: string,
): Parsed<z.output<S>> {
  const inner = innerOf(schema);
  const whole = inner instanceof z.ZodArray ? lineProblem(text.trim()) : undefined;
  if (whole !== undefined) return { problem: whole };
  const { success, data, error } = schema.safeParse(inputOf(inner, text));
  if (success) return { value: data };
  const { path = [], message = '' } = error.issues[0] ?? {};
  return { problem: typeof path[0] === 'number' ? `member ${path[0] + 1} ${message}` : message };
}

/**
 * Converts the string to the type of the schema. Other strings are passed on unchanged, and the schema refuses
 * them with its own rule.
 */
function inputOf(schema: z.ZodType, text: string): unknown {
  if (schema instanceof z.ZodNumber) return /^\d{1,10}$/.test(text) ? Number(text) : text;
  if (schema instanceof z.ZodBoolean) return text === 'true' || (text === 'false' ? false : text);
  if (schema instanceof z.ZodArray) return text.split(',').map((member) => member.trim());
  return text;
}

export function valueUnset<S extends z.ZodType>({
  schema,
}: Pick<EnvironmentVariable<S>, 'schema'>): z.output<S> {
  return schema.parse(undefined);
}

/** The default as a person would type it; undefined if there is none. */
export function defaultOf(row: EnvironmentVariable): string | undefined {
  const value = row.schema.safeParse(undefined).data;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** The allowed values in words; undefined if every string is allowed. */
export function rangeOf({ schema, range }: EnvironmentVariable): string | undefined {
  const inner = innerOf(schema);
  if (range !== undefined) return range;
  if (inner instanceof z.ZodNumber) return `${inner.minValue} to ${inner.maxValue}`;
  if (inner instanceof z.ZodBoolean) return '`true` or `false`';
  if (inner instanceof z.ZodEnum) return inner.options.map((option) => `\`${option}\``).join(', ');
  return undefined;
}

/** The inner schema, without default and optional wrappers. */
export function innerOf(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional
    ? innerOf(schema.unwrap() as z.ZodType)
    : schema;
}
