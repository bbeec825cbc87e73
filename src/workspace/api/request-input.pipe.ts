// Validates query strings and ids in paths.
import type { PipeTransform } from '@nestjs/common';
import { z } from 'zod';
import { oneOf, storableString, uuid, wholeNumber } from '../../platform/input/schemas.js';
import { composed, hasMoreCharacters } from '../../platform/text/characters.js';
import { isId } from '../../platform/text/id.js';
import { ApiRefusal } from './api-refusal.js';

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 250;
export const MAX_SEARCH_CHARACTERS = 128;

export interface PageQuery {
  /** From 1 to 250, or to the list's own limit; 100 by default. */
  readonly limit: number;
  /** The `nextCursor` of an earlier page, not validated yet. */
  readonly cursor?: string;
}

/**
 * Reads an operation's parameters. Refuses unknown and repeated ones: a misspelt filter would return
 * everything.
 */
export class QueryPipe<S extends z.ZodObject> implements PipeTransform<unknown, z.output<S>> {
  constructor(private readonly schema: S) {}

  /** @throws ApiRefusal `bad_request` */
  transform(query: unknown): z.output<S> {
    const { success, data, error } = this.schema.safeParse(query);
    if (success) return data;
    const [issue] = error.issues;
    if (issue === undefined || issue.code === 'unrecognized_keys') {
      const known = Object.keys(this.schema.shape).join(', ');
      throw new ApiRefusal('bad_request', `The query has an unknown parameter; known are ${known}`);
    }
    throw new ApiRefusal('bad_request', `${String(issue.path[0])} ${issue.message}`);
  }
}

/** The `limit`, `cursor` and filters of one list. */
export function pageQuery<F extends z.ZodRawShape>(filters: F, mostListed = MAX_LIMIT) {
  const rule = `must be a whole number from 1 to ${mostListed}`;
  const limit = parameter()
    .regex(/^\d{1,3}$/, rule)
    .transform(Number)
    .pipe(wholeNumber(1, mostListed))
    .default(DEFAULT_LIMIT);
  return new QueryPipe(z.strictObject({ limit, cursor: parameter().optional(), ...filters }));
}

/** A parameter that is given once. */
export function parameter() {
  return z.string('must be given once');
}

export function flagParameter() {
  return parameter()
    .pipe(z.enum(['true', 'false'], 'must be true or false'))
    .transform((text) => text === 'true')
    .optional();
}

export function idParameter() {
  return parameter().pipe(uuid()).optional();
}

export function textParameter() {
  return parameter().pipe(storableString()).optional();
}

export function choiceParameter<const T extends string>(choices: readonly T[]) {
  return parameter().pipe(oneOf(choices)).optional();
}

/** A search string; undefined if it is empty. Normalized (NFC), so that composition does not matter. */
export function searchParameter() {
  return parameter()
    .pipe(storableString())
    .transform(composed)
    .refine(
      (text) => !hasMoreCharacters(text, MAX_SEARCH_CHARACTERS),
      `must be a string of at most ${MAX_SEARCH_CHARACTERS} characters`,
    )
    .transform((text) => text || undefined)
    .optional();
}

/** Reads an id in a path. Anything but a UUID is the id of nothing. @throws ApiRefusal `not_found` */
export function readPathId(value: string): string {
  if (isId(value)) return value.toLowerCase();
  throw new ApiRefusal('not_found');
}

export class IdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    return readPathId(value);
  }
}
