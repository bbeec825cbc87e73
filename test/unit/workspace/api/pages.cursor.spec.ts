// Cursors: a place leads to itself, in one spelling, and a statement takes only what its list can have written.
import { randomUUID } from 'node:crypto';
import type { PlaceCheck } from '../../../../src/workspace/api/pages.js';
import {
  CURSOR_CHARACTERS,
  isPlaceById,
  isPlaceByText,
  isPlaceByTime,
  MAX_CURSOR_CHARACTERS,
  readCursor,
  writeCursor,
} from '../../../../src/workspace/api/pages.js';

const ID = randomUUID();
const base64url = (text: string | Buffer) => Buffer.from(text).toString('base64url');

it.each(['', 'x', 'two words ', '2026-01-01T00:00:00.000001Z', 'ä 注 🚀', 'x'.repeat(512)])(
  'a cursor restores the position with the key %j',
  (key) => {
    const cursor = writeCursor({ id: ID, key });
    expect(readCursor(cursor)).toEqual({ id: ID, key });
    expect(cursor.length).toBeLessThanOrEqual(key === '' ? CURSOR_CHARACTERS : MAX_CURSOR_CHARACTERS);
  },
);

it.each([
  ['nothing', ''],
  ['what is not UTF-8', base64url(Buffer.from(`${ID} \u00e4`, 'latin1'))],
  ['padding', `${writeCursor({ id: ID, key: 'k' })}=`],
  ['another spelling of the last character', `${writeCursor({ id: ID, key: '' }).slice(0, -1)}B`],
  ['more than any place takes', writeCursor({ id: ID, key: 'x'.repeat(514) })],
])('a cursor is not %s', (_, text) => expect(readCursor(text)).toBeUndefined());

it.each<[string, PlaceCheck, readonly string[], readonly string[]]>([
  ['ids', isPlaceById, [''], [' ', 'x']],
  [
    'times',
    isPlaceByTime,
    ['2026-02-28T23:59:59.999999Z', '0001-01-01T00:00:00.000000Z'],
    [
      '',
      'now',
      'infinity',
      '2026-02-30T00:00:00.000000Z',
      '0000-01-01T00:00:00.000000Z',
      '2026-01-01',
      '2026-01-01T25:00:00.000000Z',
      `2026-01-01T00:00:00.${'0'.repeat(400)}Z`,
    ],
  ],
  ['texts', isPlaceByText, ['', 'a name', '注'], ['a\0b']],
])('a position in a list ordered by %s has such a key, and the id of a row', (_, isPlace, good, bad) => {
  for (const key of good) expect([key, isPlace({ id: ID, key })]).toEqual([key, true]);
  for (const key of bad) expect([key, isPlace({ id: ID, key })]).toEqual([key, false]);
  for (const id of ['', '1', `${ID}0`, ID.replaceAll('-', '')])
    expect(isPlace({ id, key: good[0] ?? '' })).toBe(false);
});
