// Lists page by page, and the cursors that say where a page ended.
import { isUtf8 } from 'node:buffer';
import { isUnstorable } from '../../platform/json/strict-json.js';
import { isId } from '../../platform/text/id.js';
import { momentOf } from '../../platform/text/moment.js';
import { ApiRefusal } from './api-refusal.js';
import type { PageQuery } from './request-input.pipe.js';

const ID_CHARACTERS = 36;
/** A name of 128 characters. */
const MAX_KEY_BYTES = 512;

/** The length of a cursor with only an id. */
export const CURSOR_CHARACTERS = charactersOf(ID_CHARACTERS + 1);
/** The length of a cursor with the longest key. */
export const MAX_CURSOR_CHARACTERS = charactersOf(ID_CHARACTERS + 1 + MAX_KEY_BYTES);

/** Base64url (RFC 4648 §5), as a pattern for JSON Schema. */
export const CURSOR_PATTERN = '^[A-Za-z0-9_-]+$';

/** Where a page ended. */
export interface Place {
  /** A UUID, or a number in digits. */
  readonly id: string;
  /** The sort key as a string; empty in lists sorted by id. */
  readonly key: string;
}

/** Whether a page of a list can have ended at a place, so that its statement accepts it. */
export type PlaceCheck = (place: Place) => boolean;

export const isPlaceById: PlaceCheck = ({ id, key }) => isId(id) && key === '';

/**
 * For lists sorted by a time with microseconds. PostgreSQL has no year 0, and refuses times with many more
 * digits.
 */
export const isPlaceByTime: PlaceCheck = ({ id, key }) =>
  isId(id) && /\.\d{6}Z$/.test(key) && !key.startsWith('0000') && momentOf(key) !== undefined;

export const isPlaceByText: PlaceCheck = ({ id, key }) => isId(id) && !isUnstorable(key);

/**
 * A cursor is base64url(id, space, key). It contains no offset, so inserts and deletes do not invalidate it.
 */
export function writeCursor({ id, key }: Place): string {
  return Buffer.from(`${id} ${key}`).toString('base64url');
}

/** Undefined for anything that `writeCursor` does not produce. */
export function readCursor(cursor: string): Place | undefined {
  if (cursor.length > MAX_CURSOR_CHARACTERS) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  // Not base64url, or with unused bits in the last character.
  if (!isUtf8(bytes) || bytes.toString('base64url') !== cursor) return undefined;
  const text = bytes.toString();
  const end = text.indexOf(' ');
  return end < 0 ? undefined : { id: text.slice(0, end), key: text.slice(end + 1) };
}

function charactersOf(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}

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
