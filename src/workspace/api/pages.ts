// Returns a list page by page.
import { ApiRefusal } from './api-refusal.js';
import type { Place, PlaceCheck } from './page-cursor.js';
import { isPlaceById, readCursor, writeCursor } from './page-cursor.js';
import type { PageQuery } from './request-input.pipe.js';

/** A page in the response. */
export interface Page<T> {
  data: T[];
  /** Where the next page begins; null on the last page. */
  nextCursor: string | null;
}

/** The rows of a page in a list sorted by id: those after `afterId`. */
export interface PageRange {
  readonly afterId?: string;
  readonly limit: number;
}

/** The rows of a page in a sorted list: those after a place. */
export interface SortedRange {
  readonly after?: Place;
  readonly limit: number;
}

/** The rows of a page of a sorted list. */
export interface SortedRows<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins; undefined on the last page. */
  readonly end: Place | undefined;
}

/** Reads one page of a list sorted by id. @throws ApiRefusal `bad_request` for an invalid cursor */
export function pageById<Row extends { readonly id: string }, T>(
  query: PageQuery,
  rowsOf: (range: PageRange) => Promise<Row[]>,
  answer: (row: Row) => T,
): Promise<Page<T>> {
  const idOrdered = async ({ after, limit }: SortedRange): Promise<SortedRows<Row>> => {
    // One more row than requested shows whether there is a next page.
    const rows = await rowsOf({ afterId: after?.id, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return { rows: page, end: last && { id: last.id, key: '' } };
  };
  return sortedPage(isPlaceById, query, idOrdered, answer);
}

/**
 * Reads one page of a list that is not sorted by id.
 * @param isPlace whether the list's statement accepts a place
 * @throws ApiRefusal `bad_request` for an invalid cursor, or a cursor of another list
 */
export async function sortedPage<Row, T>(
  isPlace: PlaceCheck,
  { limit, cursor }: PageQuery,
  rowsOf: (range: SortedRange) => Promise<SortedRows<Row>>,
  answer: (row: Row) => T,
): Promise<Page<T>> {
  const after = cursor === undefined ? undefined : placeIn(cursor, isPlace);
  const { rows, end } = await rowsOf({ after, limit });
  return { data: rows.map(answer), nextCursor: end === undefined ? null : writeCursor(end) };
}

function placeIn(cursor: string, isPlace: PlaceCheck): Place {
  const place = readCursor(cursor);
  if (place !== undefined && isPlace(place)) return place;
  throw new ApiRefusal('bad_request', 'cursor must be the nextCursor of an earlier page of this list');
}
