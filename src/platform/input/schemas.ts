// Schemas that several inputs share. Each has one message, which never repeats the value.
import { z } from 'zod';
import { isUnstorable } from '../json/strict-json.js';
import { hasMoreCharacters } from '../text/characters.js';
import { isEmailAddress } from '../text/email-address.js';
import { isId } from '../text/id.js';
import { momentOf } from '../text/moment.js';

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

/** One of some known strings. */
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

/** A storable string of at most `limit` code points. */
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
