// Cursors: what was written is read, for the same list and under every key of the ring, and nothing else is.
import { randomBytes, randomUUID } from 'node:crypto';
import { KeyRing } from '../../../../src/platform/secrets/key-ring.js';
import { MAX_CURSOR_CHARACTERS, PageCursors } from '../../../../src/workspace/api/page-cursor.js';

const [first, second] = [randomBytes(32), randomBytes(32)];
const cursorsUnder = (...keys: Buffer[]) => new PageCursors(new KeyRing(keys));
const cursors = cursorsUnder(first);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('a cursor', () => {
  it('leads back to the id that it was made of', () => {
    for (let round = 0; round < 100; round++) {
      const id = randomUUID();
      expect(cursors.read('workflows', cursors.write('workflows', id))).toEqual({ id, key: '' });
    }
  });

  it.each(['x', '2026-01-01T00:00:00.000001Z', 'ä 注 🚀', 'x'.repeat(512)])(
    'leads back to the place with a key: %j',
    (key) => {
      const id = randomUUID();
      const cursor = cursors.write('workflows by name asc', id, key);
      expect(cursors.read('workflows by name asc', cursor)).toEqual({ id, key });
      expect(cursors.read('workflows by name desc', cursor)).toBeUndefined();
      expect(cursor.length).toBeLessThanOrEqual(MAX_CURSOR_CHARACTERS);
      const cut = Buffer.from(cursor, 'base64url').subarray(0, -1).toString('base64url');
      expect(cursors.read('workflows by name asc', cut)).toBeUndefined();
    },
  );

  it('is of one list only', () => {
    const cursor = cursors.write('workflows', randomUUID());
    expect(cursors.read('credentials', cursor)).toBeUndefined();
    expect(cursors.read('workflow', cursor)).toBeUndefined();
  });

  it('is refused after any change of any character', () => {
    const cursor = cursors.write('workflows', randomUUID());
    for (let at = 0; at < cursor.length; at++) {
      for (const char of ALPHABET) {
        const changed = cursor.slice(0, at) + char + cursor.slice(at + 1);
        if (changed !== cursor)
          expect([changed, cursors.read('workflows', changed)]).toEqual([changed, undefined]);
      }
    }
  });

  it.each([
    ['nothing', ''],
    ['an id', randomUUID()],
    ['an id in the form of a cursor without a tag', randomBytes(16).toString('base64url')],
    ['random bytes', randomBytes(32).toString('base64url')],
    ['padding', `${cursors.write('workflows', randomUUID())}=`],
    ['white space', ` ${cursors.write('workflows', randomUUID())}`],
  ])('is not %s', (_, text) => {
    expect(cursors.read('workflows', text)).toBeUndefined();
  });

  it('outlives a new first key, and ends with its own key', () => {
    const id = randomUUID();
    const cursor = cursorsUnder(first).write('workflows', id);
    expect(cursorsUnder(second, first).read('workflows', cursor)?.id).toBe(id);
    expect(cursorsUnder(second).read('workflows', cursor)).toBeUndefined();
    expect(cursorsUnder(second, first).write('workflows', id)).not.toBe(cursor);
  });
});
