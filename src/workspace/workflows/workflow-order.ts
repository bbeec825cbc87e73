// The orders in which workflows are listed, other than that of ids, and the columns by which they are kept.
import type { Sql } from '../../platform/database/sql.js';
import { sql } from '../../platform/database/sql.js';

/** What a list may be sorted by. */
export const SORT_KEYS = ['updatedAt', 'name'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export const DIRECTIONS = ['asc', 'desc'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** The direction that people expect where they say none: the last change first, and names from A to Z. */
export const USUAL_DIRECTION: Readonly<Record<SortKey, Direction>> = { updatedAt: 'desc', name: 'asc' };

/** How an order is written in SQL. Workflows that are equal in it come in the order of their ids. */
export interface OrderSql {
  /** The column of `workflow w` that is sorted by. */
  readonly column: Sql;
  /** Its type, for values that come as text. */
  readonly type: Sql;
  /** `key` as text, from which it can be read again without loss. */
  readonly keyText: Sql;
  readonly direction: Sql;
  /** Compares two places in the list: the left one comes behind the right one. */
  readonly isAfter: Sql;
  /** Comes before it. */
  readonly isBefore: Sql;
  /** Comes before it, or is the same. */
  readonly isUpTo: Sql;
  /** Key and id of a place that nothing comes behind. */
  readonly last: Sql;
}

const LEAST_ID = sql`'00000000-0000-0000-0000-000000000000'::uuid`;
const GREATEST_ID = sql`'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;

const COLUMNS = {
  updatedAt: {
    column: sql`w.updated_at`,
    type: sql`timestamptz`,
    keyText: sql`to_char(page.key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
    least: sql`timestamptz '-infinity'`,
    greatest: sql`timestamptz 'infinity'`,
  },
  name: {
    column: sql`w.folded_name`,
    type: sql`text COLLATE "C"`,
    keyText: sql`page.key`,
    least: sql`'' COLLATE "C"`,
    // The greatest code point, more often than a name can have it.
    greatest: sql`repeat(chr(1114111), 999) COLLATE "C"`,
  },
} satisfies Record<SortKey, object>;

export function orderSql(sort: SortKey, order: Direction): OrderSql {
  const { least, greatest, ...columns } = COLUMNS[sort];
  const ascending = order === 'asc';
  return {
    ...columns,
    direction: ascending ? sql`ASC` : sql`DESC`,
    isAfter: ascending ? sql`>` : sql`<`,
    isBefore: ascending ? sql`<` : sql`>`,
    isUpTo: ascending ? sql`<=` : sql`>=`,
    last: ascending ? sql`${greatest} AS key, ${GREATEST_ID} AS id` : sql`${least} AS key, ${LEAST_ID} AS id`,
  };
}
