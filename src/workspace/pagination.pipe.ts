// Pages of a list: how a request asks for one, and how it is answered.
import type { PipeTransform } from '@nestjs/common';
import { BadRequestException, Injectable } from '@nestjs/common';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 250;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Which page is asked for. */
export interface PageQuery {
  /** 1 to 250. */
  readonly limit: number;
  /** The id after which the page begins. */
  readonly afterId?: string;
}

/** A page as it is answered. */
export interface Page<T> {
  data: T[];
  /** Where the next page begins; null on the last one. */
  nextCursor: string | null;
}

/** Reads `limit` and `cursor` of a query string. */
@Injectable()
export class PageQueryPipe implements PipeTransform<Record<string, unknown>, PageQuery> {
  transform({ limit, cursor }: Record<string, unknown>): PageQuery {
    const afterId = cursor === undefined ? {} : { afterId: readCursor(cursor) };
    return { limit: limit === undefined ? DEFAULT_LIMIT : readLimit(limit), ...afterId };
  }
}

/** Makes a page of rows that were read with one more than the limit. */
export function pageOf<Row extends { id: string }, T>(
  rows: Row[],
  limit: number,
  answer: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const nextCursor = last === undefined ? null : Buffer.from(last.id, 'latin1').toString('base64url');
  return { data: shown.map(answer), nextCursor };
}

function readLimit(value: unknown): number {
  const limit = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw badRequest(`limit must be a whole number from 1 to ${MAX_LIMIT}`);
}

function readCursor(value: unknown): string {
  const id = typeof value === 'string' ? Buffer.from(value, 'base64url').toString('latin1') : '';
  if (UUID.test(id)) return id;
  throw badRequest('cursor must be the nextCursor of an earlier page');
}

function badRequest(message: string): BadRequestException {
  return new BadRequestException({ error: 'bad_request', message });
}
