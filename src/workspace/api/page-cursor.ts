// Writes and reads cursors, which say where a page ended. A cursor is untrusted input: access is checked in
// SQL.
import { isUtf8 } from 'node:buffer';
import { isUnstorable } from '../../platform/json/strict-json.js';
import { isId } from '../../platform/text/id.js';
import { momentOf } from '../../platform/text/moment.js';

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
