// Reads the inputs of administrative operations strictly: each member by its rule, and no unknown ones.
import { hasMoreCharacters } from '../platform/text/characters.js';
import { isEmailAddress } from '../platform/text/email-address.js';
import { isId } from '../platform/text/id.js';
import { momentOf } from '../platform/text/moment.js';
import { isJsonObject, isUnstorable } from '../platform/json/strict-json.js';
import { InputError } from './command-error.js';

/** What a reader answers: the value, or the rule that it breaks. */
export type Read<T> = { readonly value: T } | { readonly rule: string };

type MemberReader<T> = (value: unknown) => Read<T>;

type Readers = Readonly<Record<string, MemberReader<unknown>>>;
type Value<R> = R extends MemberReader<infer T> ? T : never;
type MayBeLeftOut<R extends Readers> = {
  [M in keyof R]: undefined extends Value<R[M]> ? M : never;
}[keyof R];

/** What an object of readers reads. */
export type Members<R extends Readers> = {
  readonly [M in Exclude<keyof R, MayBeLeftOut<R>>]: Value<R[M]>;
} & { readonly [M in MayBeLeftOut<R>]?: Value<R[M]> };

/**
 * A reader of objects of which every member has a reader. It throws InputError for the first member that breaks its rule, or for
 * the whole.
 */
export function members<R extends Readers>(readers: R): (input: unknown) => Members<R> {
  const known = Object.keys(readers);
  const rule = `has a member that is not known; known are ${known.join(', ') || 'none'}`;
  return (input) => {
    if (!isJsonObject(input)) throw new InputError('The input', 'must be an object');
    if (Object.keys(input).some((member) => !known.includes(member))) throw new InputError('The input', rule);
    const read = Object.entries(readers).map(([member, reader]) => [
      member,
      readMember(input, member, reader),
    ]);
    return Object.fromEntries(read) as Members<R>;
  };
}

/** Reads the input of an operation that needs none. */
export const readNothing = members({});

/** A value of any kind, which is checked later. */
export function anything(value: unknown): Read<unknown> {
  return { value };
}

/** A text that storage can hold, empty or not. */
export function storableText(value: unknown): Read<string> {
  if (typeof value !== 'string') return { rule: 'must be a text' };
  return isUnstorable(value) ? { rule: 'has characters that cannot be stored' } : { value };
}

/** A reader of storable texts that a rule allows. */
export function checkedText<T = string>(check: (text: string) => Read<T>): MemberReader<T> {
  return (value) => {
    const read = storableText(value);
    return 'rule' in read ? read : check(read.value);
  };
}

export function textUpTo(maxCharacters: number): MemberReader<string> {
  return checkedText<string>((text) =>
    hasMoreCharacters(text, maxCharacters)
      ? { rule: `must have at most ${maxCharacters} characters` }
      : { value: text },
  );
}

export const moment = checkedText<string>((text) =>
  momentOf(text) === undefined
    ? { rule: 'must be a date or a time with its zone, such as 2031-05-01T12:00:00Z' }
    : { value: text },
);

export function flag(value: unknown): Read<boolean> {
  return typeof value === 'boolean' ? { value } : { rule: 'must be true or false' };
}

export function uuid(value: unknown): Read<string> {
  return typeof value === 'string' && isId(value)
    ? { value: value.toLowerCase() }
    : { rule: 'must be a UUID' };
}

export function emailAddress(value: unknown): Read<string> {
  const isAddress = typeof value === 'string' && isEmailAddress(value) && !isUnstorable(value);
  return isAddress ? { value } : { rule: 'must be an e-mail address' };
}

/** A reader of some known words. */
export function oneOf<const T extends string>(known: readonly T[]): MemberReader<T> {
  return (value) => {
    const found = known.find((word) => word === value);
    return found === undefined ? { rule: `must be one of ${known.join(', ')}` } : { value: found };
  };
}

/** A reader of what may be left out. */
export function optional<T>(reader: MemberReader<T>): MemberReader<T | undefined> {
  return (value) => (value === undefined ? { value } : reader(value));
}

/** A reader of whole numbers within a range, both ends included. */
export function wholeNumber(min: number, max: number): MemberReader<number> {
  return (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? { value: Number(value) }
      : { rule: `must be a whole number from ${min} to ${max}` };
}

function readMember(input: Record<string, unknown>, member: string, reader: MemberReader<unknown>): unknown {
  const read = reader(input[member]);
  if ('rule' in read) throw new InputError(member, read.rule);
  return read.value;
}
