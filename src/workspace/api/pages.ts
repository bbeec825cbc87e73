// Answers a list page by page.
import { Injectable } from '@nestjs/common';
import { ApiRefusal } from './api-refusal.js';
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

@Injectable()
export class Pages {
  constructor(private readonly cursors: PageCursors) {}

  /**
   * Reads one page.
   * @param list names the list; cursors of other lists are refused
   * @throws ApiRefusal `bad_request` for a cursor that is not of this list
   */
  async read<Row extends { readonly id: string }, T>(
    list: string,
    { limit, cursor }: PageQuery,
    rowsOf: (range: PageRange) => Promise<Row[]>,
    answer: (row: Row) => T,
  ): Promise<Page<T>> {
    const afterId = cursor === undefined ? undefined : this.idIn(list, cursor);
    // One more than asked for tells whether there is a next page.
    const rows = await rowsOf({ afterId, limit: limit + 1 });
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    const nextCursor = last === undefined ? null : this.cursors.write(list, last.id);
    return { data: shown.map(answer), nextCursor };
  }

  private idIn(list: string, cursor: string): string {
    const id = this.cursors.read(list, cursor);
    if (id !== undefined) return id;
    throw new ApiRefusal('bad_request', 'cursor must be the nextCursor of an earlier page of this list');
  }
}
