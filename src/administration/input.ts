// Reads the inputs of administrative operations strictly: each member by its rule, and no unknown ones.
import { hasMoreCharacters } from '../platform/text/characters.js';
import { isEmailAddress } from '../platform/text/email-address.js';
import { isId } from '../platform/text/id.js';
import { momentOf } from '../platform/text/moment.js';
import { isJsonObject, isUnstorable } from '../platform/json/strict-json.js';
import { InputError } from './command-error.js';

/** What a reader answers: the value, or the rule that it breaks. */
export type Read<T> = { readonly value: T } | { readonly rule: string };

export type MemberReader<T> = (value: unknown) => Read<T>;

/**
 * Reads an object of which every member has a reader.
 * @throws InputError for the first member that breaks its rule, or for the whole
 */
export function readMembers<T extends object>(
  input: unknown,
  readers: { readonly [Member in keyof T]: MemberReader<T[Member]> },
): T {
  if (!isJsonObject(input)) throw new InputError('The input', 'must be an object');
  const known = Object.keys(readers);
  if (Object.keys(input).some((member) => !known.includes(member)))
    throw new InputError(
      'The input',
      `has a member that is not known; known are ${known.join(', ') || 'none'}`,
    );
  const members = Object.entries<MemberReader<unknown>>(readers);
  return Object.fromEntries(
    members.map(([member, reader]) => [member, readMember(input, member, reader)]),
  ) as T;
}

/** Reads the input of an operation that needs none. */
export function readNothing(input: unknown): Record<string, never> {
  return readMembers<Record<string, never>>(input, {});
}

/** A text that storage can hold, empty or not. */
export function storableText(value: unknown): Read<string> {
  if (typeof value !== 'string') return { rule: 'must be a text' };
  return isUnstorable(value) ? { rule: 'has characters that cannot be stored' } : { value };
}

/** A reader of storable texts that a rule allows. */
export function checkedText(check: (text: string) => Read<string>): MemberReader<string> {
  return (value) => {
    const read = storableText(value);
    return 'rule' in read ? read : check(read.value);
  };
}

export function textUpTo(maxCharacters: number): MemberReader<string> {
  return checkedText((text) =>
    hasMoreCharacters(text, maxCharacters)
      ? { rule: `must have at most ${maxCharacters} characters` }
      : { value: text },
  );
}

export const moment = checkedText((text) =>
  momentOf(text) === undefined
    ? { rule: 'must be a date or a time with its zone, such as 2031-05-01T12:00:00Z' }
    : { value: text },
);

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
