// Reads query strings of lists: which page, and which filters.
import type { PipeTransform } from '@nestjs/common';
import { isUnstorable } from '../../platform/json/strict-json.js';
import { composed, hasMoreCharacters } from '../../platform/text/characters.js';
import { isId } from '../../platform/text/id.js';
import { ApiRefusal } from './api-refusal.js';

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 250;
export const MAX_SEARCH_CHARACTERS = 128;

/** Which page is asked for. */
export interface PageQuery {
  /** 1 to 250, or to what the list allows; 100 unless given. */
  readonly limit: number;
  /** The `nextCursor` of an earlier page, not yet checked. */
  readonly cursor?: string;
}

/** Reads one parameter. @throws ApiRefusal `bad_request` */
type Reader<T> = (value: string, name: string) => T;
type Readers = Readonly<Record<string, Reader<unknown>>>;
type Values<R extends Readers> = { readonly [K in keyof R]?: ReturnType<R[K]> };

/**
 * Reads the parameters of one operation. One that is unknown or given twice is refused: a misspelt filter would answer
 * everything.
 */
export class FilterPipe<R extends Readers> implements PipeTransform<Record<string, unknown>, Values<R>> {
  constructor(private readonly readers: R) {}

  transform(query: Record<string, unknown>): Values<R> {
    const values = Object.entries(query).map(([name, value]) => [name, this.read(name, value)]);
    return Object.fromEntries(values) as Values<R>;
  }

  private read(name: string, value: unknown): unknown {
    const reader = Object.hasOwn(this.readers, name) ? this.readers[name] : undefined;
    if (reader === undefined) throw this.unknownParameter();
    if (typeof value !== 'string') throw new ApiRefusal('bad_request', `${name} must be given once`);
    return reader(value, name);
  }

  private unknownParameter(): ApiRefusal {
    const known = Object.keys(this.readers).join(', ');
    return new ApiRefusal('bad_request', `The query has an unknown parameter; known are ${known}`);
  }
}

/** Reads `limit`, `cursor` and the filters of one list. */
export class QueryPipe<R extends Readers> implements PipeTransform<
  Record<string, unknown>,
  PageQuery & Values<R>
> {
  private readonly parameters: FilterPipe<Readers>;

  /** @param mostListed the largest `limit`, 250 unless given */
  constructor(filters: R, mostListed = MAX_LIMIT) {
    this.parameters = new FilterPipe({ limit: limitUpTo(mostListed), cursor: (value) => value, ...filters });
  }

  transform(query: Record<string, unknown>): PageQuery & Values<R> {
    return { limit: DEFAULT_LIMIT, ...this.parameters.transform(query) } as PageQuery & Values<R>;
  }
}

export function readFlag(value: string, name: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw new ApiRefusal('bad_request', `${name} must be true or false`);
}

export function readId(value: string, name: string): string {
  if (isId(value)) return value.toLowerCase();
  throw new ApiRefusal('bad_request', `${name} must be a UUID`);
}

export function readText(value: string, name: string): string {
  if (!isUnstorable(value)) return value;
  throw new ApiRefusal('bad_request', `${name} has characters that cannot be stored`);
}

/** Reads one of some words. */
export function readChoice<T extends string>(choices: readonly T[]): Reader<T> {
  return (value, name) => {
    const choice = choices.find((each) => each === value);
    if (choice !== undefined) return choice;
    throw new ApiRefusal('bad_request', `${name} must be one of ${choices.join(', ')}`);
  };
}

/** Reads what a list is searched for; nothing where it is empty. Letters are the same however they are composed (NFC). */
export function readSearch(value: string, name: string): string | undefined {
  const text = composed(readText(value, name));
  if (hasMoreCharacters(text, MAX_SEARCH_CHARACTERS))
    throw new ApiRefusal(
      'bad_request',
      `${name} must be a text of at most ${MAX_SEARCH_CHARACTERS} characters`,
    );
  return text === '' ? undefined : text;
}

/** Reads an id in a path: what is not a UUID is the id of nothing. @throws ApiRefusal `not_found` */
export function readPathId(value: string): string {
  if (isId(value)) return value.toLowerCase();
  throw new ApiRefusal('not_found');
}

export class IdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    return readPathId(value);
  }
}

function limitUpTo(mostListed: number): Reader<number> {
  return (value, name) => {
    const limit = /^\d{1,3}$/.test(value) ? Number(value) : 0;
    if (limit >= 1 && limit <= mostListed) return limit;
    throw new ApiRefusal('bad_request', `${name} must be a whole number from 1 to ${mostListed}`);
  };
}
