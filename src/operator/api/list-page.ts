// Pages of the operator's lists, and how many searches run for them.

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 100;
/** Each process runs one search at a time. Four more may wait, enough if an operator reloads a page or two. */
export const SEARCH_LIMITS = { atOnce: 1, waiting: 4, longestWaitMs: 30_000 };

export interface Page<Item> {
  readonly data: readonly Item[];
  /** Where the next page begins; null on the last page. */
  readonly nextCursor: string | null;
}

/** @param rows one more than the limit if there are more */
export function pageOf<Row>(rows: readonly Row[], limit: number, cursorAt: (row: Row) => string): Page<Row> {
  const data = rows.slice(0, limit);
  const last = rows.length > limit ? data.at(-1) : undefined;
  return { data, nextCursor: last === undefined ? null : cursorAt(last) };
}
