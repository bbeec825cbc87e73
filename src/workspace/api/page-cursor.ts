// Makes and reads cursors: the places at which pages ended. A cursor is input like any other: who may see what is asked in SQL.
import { isUtf8 } from 'node:buffer';
import { isUnstorable } from '../../platform/json/strict-json.js';
import { isId } from '../../platform/text/id.js';
import { momentOf } from '../../platform/text/moment.js';

const ID_CHARACTERS = 36;
/** Of a name of 128 characters. */
const MAX_KEY_BYTES = 512;

/** Of a place that has only an id. */
export const CURSOR_CHARACTERS = charactersOf(ID_CHARACTERS + 1);
/** With the longest key. */
export const MAX_CURSOR_CHARACTERS = charactersOf(ID_CHARACTERS + 1 + MAX_KEY_BYTES);

/** Base64url (RFC 4648 §5), as a pattern of JSON Schema. */
export const CURSOR_PATTERN = '^[A-Za-z0-9_-]+$';

/** Where a page ended. */
export interface Place {
  /** A UUID, or a number in digits. */
  readonly id: string;
  /** The sort key, as text; empty in the order of ids. */
  readonly key: string;
}

/** Whether a page of some list can have ended at a place, so that its statement can take it. */
export type PlaceCheck = (place: Place) => boolean;

export const isPlaceById: PlaceCheck = ({ id, key }) => isId(id) && key === '';

/** By a time with microseconds. PostgreSQL has no year 0, and reads no time with many digits more. */
export const isPlaceByTime: PlaceCheck = ({ id, key }) =>
  isId(id) && /\.\d{6}Z$/.test(key) && !key.startsWith('0000') && momentOf(key) !== undefined;

export const isPlaceByText: PlaceCheck = ({ id, key }) => isId(id) && !isUnstorable(key);

/** A cursor is base64url(id, blank, key). It holds no offset, so inserts and deletes leave it right. */
export function writeCursor({ id, key }: Place): string {
  return Buffer.from(`${id} ${key}`).toString('base64url');
}

/** Undefined for what `writeCursor` does not make of any place. */
export function readCursor(cursor: string): Place | undefined {
  if (cursor.length > MAX_CURSOR_CHARACTERS) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  // Not base64url, or with spare bits in the last character.
  if (!isUtf8(bytes) || bytes.toString('base64url') !== cursor) return undefined;
  const text = bytes.toString();
  const end = text.indexOf(' ');
  return end < 0 ? undefined : { id: text.slice(0, end), key: text.slice(end + 1) };
}

function charactersOf(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}
