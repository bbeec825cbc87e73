// Schemas that several inputs share, and the reader of an input. Each schema has one message, which never repeats the value.
import { z } from 'zod';
import { isUnstorable } from '../json/strict-json.js';
import { hasMoreCharacters } from '../text/characters.js';
import { isEmailAddress } from '../text/email-address.js';
import { isId } from '../text/id.js';
import { momentOf } from '../text/moment.js';
import { didYouMean } from '../text/wording.js';

/** The message of a schema: its rule, or that the value is missing. */
function ruled(rule: string) {
  return { error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is needed' : rule) };
}

/** An integer from `min` to `max`, inclusive. */
export function wholeNumber(min: number, max: number): z.ZodInt {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(ruled(rule)).min(min, rule).max(max, rule);
}

export function flag(): z.ZodBoolean {
  return z.boolean(ruled('must be true or false'));
}

export function oneOf<const T extends string>(known: readonly T[]) {
  return z.enum(known, ruled(`must be one of ${known.join(', ')}`));
}

export function string(): z.ZodString {
  return z.string(ruled('must be a string'));
}

/** A value that only a predicate checks. */
export function holding<T>(check: (value: unknown) => boolean, rule: string) {
  return z.custom<T>(check, ruled(rule));
}

/** A string that the database can store. It may be empty. */
export function storableString(): z.ZodString {
  return z.string(ruled('must be a text')).refine((text) => !isUnstorable(text), {
    error: 'has characters that cannot be stored',
    abort: true,
  });
}

export function stringUpTo(limit: number): z.ZodString {
  return storableString().refine(
    (text) => !hasMoreCharacters(text, limit),
    `must have at most ${limit} characters`,
  );
}

/** A date, or a time with its zone (RFC 3339). */
export function moment(): z.ZodString {
  return storableString().refine(
    (text) => momentOf(text) !== undefined,
    'must be a date or a time with its zone, such as 2031-05-01T12:00:00Z',
  );
}

/** A UUID, converted to lower case. */
export function uuid() {
  return z
    .string(ruled('must be a UUID'))
    .refine(isId, 'must be a UUID')
    .transform((text) => text.toLowerCase());
}

export function emailAddress(): z.ZodString {
  return z
    .string(ruled('must be an e-mail address'))
    .refine((text) => isEmailAddress(text) && !isUnstorable(text), 'must be an e-mail address');
}

/** A reader's result: the value, or the rule that the input breaks. */
export type Checked<T> = { readonly value: T } | { readonly rule: string };

/** Applies a reader to a schema's output. */
export function readBy<In, Out>(schema: z.ZodType<In>, reader: (value: In) => Checked<Out>) {
  return schema.transform((value, context) => {
    const checked = reader(value);
    if ('value' in checked) return checked.value;
    context.addIssue(checked.rule);
    return z.NEVER;
  });
}

/** Messages for objects. Other schemas have their own. */
const words: z.core.$ZodErrorMap = ({ code, input }) => {
  if (code !== 'invalid_type') return undefined;
  return input === undefined ? 'is needed' : 'must be an object';
};

/** A property's path, and the rule that it breaks. */
export interface Problem {
  /** Property names separated by dots; empty for the whole input. */
  readonly path: string;
  readonly rule: string;
}

/** Returns the value with its defaults, or every problem. */
export function read<S extends z.ZodType>(
  schema: S,
  input: unknown,
): { readonly value: z.output<S> } | { readonly problems: readonly Problem[] } {
  const { success, data, error } = schema.safeParse(input, { error: words });
  return success ? { value: data } : { problems: error.issues.flatMap((issue) => problemsOf(issue, schema)) };
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType): Problem[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path.join('.'), rule: issue.message }];
  const known = Object.keys(shapeAt(schema, issue.path));
  return issue.keys.map((name) => ({
    path: [...issue.path, name].join('.'),
    rule: `is not known${didYouMean(name, known)}`,
  }));
}

function shapeAt(schema: z.ZodType, path: readonly PropertyKey[]): z.core.$ZodShape {
  const object = objectIn(schema);
  const [name, ...rest] = path;
  if (object === undefined) return {};
  if (name === undefined) return object.shape;
  const shape: Record<string, unknown> = object.shape;
  const next = shape[String(name)];
  return next instanceof z.ZodType ? shapeAt(next, rest) : {};
}

function objectIn(schema: z.ZodType): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isWrapped ? objectIn(schema.unwrap() as z.ZodType) : undefined;
}
