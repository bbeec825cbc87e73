// Answers a list page by page.
import { Injectable } from '@nestjs/common';
import { ApiRefusal } from './api-refusal.js';
import type { Place } from './page-cursor.js';
import { PageCursors } from './page-cursor.js';
import type { PageQuery } from './query.pipe.js';

/** A page as it is answered. */
export interface Page<T> {
  data: T[];
  /** Where the next page begins; null on the last one. */
  nextCursor: string | null;
}

/** Which rows to read for a page: in the order of ids, those after `afterId`. */
export interface PageRange {
  readonly afterId?: string;
  readonly limit: number;
}

/** Which rows to read for a page of a sorted list: those behind a place. */
export interface SortedRange {
  readonly after?: Place;
  readonly limit: number;
}

/** The rows of a page of a sorted list. */
export interface SortedRows<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins; undefined where nothing is left. */
  readonly end: Place | undefined;
}

@Injectable()
export class Pages {
  constructor(private readonly cursors: PageCursors) {}

  /**
   * Reads one page.
   * @param list names the list; cursors of other lists are refused
   * @throws ApiRefusal `bad_request` for a cursor that is not of this list
   */
  read<Row extends { readonly id: string }, T>(
    list: string,
    query: PageQuery,
    rowsOf: (range: PageRange) => Promise<Row[]>,
    answer: (row: Row) => T,
  ): Promise<Page<T>> {
    const idOrdered = async ({ after, limit }: SortedRange): Promise<SortedRows<Row>> => {
      // One more than asked for shows whether there is a next page.
      const rows = await rowsOf({ afterId: after?.id, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return { rows: page, end: last && { id: last.id, key: '' } };
    };
    return this.readSorted(list, query, idOrdered, answer);
  }

  /**
   * Reads one page of a list that is sorted by something else than ids.
   * @param list names the list with its order; cursors of other lists and orders are refused
   * @throws ApiRefusal `bad_request` for a cursor that is not of this list
   */
  async readSorted<Row, T>(
    list: string,
    { limit, cursor }: PageQuery,
    rowsOf: (range: SortedRange) => Promise<SortedRows<Row>>,
    answer: (row: Row) => T,
  ): Promise<Page<T>> {
    const after = cursor === undefined ? undefined : this.placeIn(list, cursor);
    const { rows, end } = await rowsOf({ after, limit });
    const nextCursor = end === undefined ? null : this.cursors.write(list, end.id, end.key);
    return { data: rows.map(answer), nextCursor };
  }

  private placeIn(list: string, cursor: string): Place {
    const place = this.cursors.read(list, cursor);
    if (place !== undefined) return place;
    throw new ApiRefusal('bad_request', 'cursor must be the nextCursor of an earlier page of this list');
  }
}
