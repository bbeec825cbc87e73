// Makes and reads cursors: the place at which a page ended, and proof that this instance wrote it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { KeyRing } from '../../platform/secrets/key-ring.js';

const ID_BYTES = 16;
const TAG_BYTES = 16;
/** 32 bytes in base64url. */
export const CURSOR_CHARACTERS = 43;
/** Of a name of 128 characters. */
const MAX_KEY_BYTES = 512;
/** With the longest key. */
export const MAX_CURSOR_CHARACTERS = Math.ceil(((ID_BYTES + TAG_BYTES + MAX_KEY_BYTES) * 4) / 3);

/** Base64url (RFC 4648 §5), as a pattern of JSON Schema. */
export const CURSOR_PATTERN = '^[A-Za-z0-9_-]+$';

/** Where a page ended. */
export interface Place {
  /** A UUID. */
  readonly id: string;
  /** The sort key, as text; empty in the order of ids. */
  readonly key: string;
}

/**
 * A cursor is base64url(id ‖ tag ‖ key), the tag being the first 16 bytes of HMAC-SHA256 over the list's name, the id and the
 * key. It holds no offset, so inserts and deletes leave it right, and it outlives the rotation of keys.
 */
@Injectable()
export class PageCursors {
  private readonly keys: readonly Buffer[];

  constructor(keyRing: KeyRing) {
    this.keys = keyRing.deriveKeys('page cursor');
  }

  /**
   * @param list names the list, for example `workflows`: a cursor of one list is none of another
   * @param id a UUID, at which the page ended
   * @param key what the list is sorted by there; nothing in the order of ids
   */
  write(list: string, id: string, key = ''): string {
    const idBytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const keyBytes = Buffer.from(key, 'utf8');
    const [secret = Buffer.alloc(0)] = this.keys;
    return Buffer.concat([idBytes, tagOf(secret, list, idBytes, keyBytes), keyBytes]).toString('base64url');
  }

  /** The place in a cursor of this list; undefined for everything that `write` did not make for it. */
  read(list: string, cursor: string): Place | undefined {
    if (cursor.length > MAX_CURSOR_CHARACTERS) return undefined;
    const bytes = Buffer.from(cursor, 'base64url');
    // Not base64url, or with spare bits in the last character: not a cursor of this service.
    if (bytes.length < ID_BYTES + TAG_BYTES || bytes.toString('base64url') !== cursor) return undefined;
    const id = bytes.subarray(0, ID_BYTES);
    const tag = bytes.subarray(ID_BYTES, ID_BYTES + TAG_BYTES);
    const key = bytes.subarray(ID_BYTES + TAG_BYTES);
    const isOurs = this.keys.some((secret) => timingSafeEqual(tagOf(secret, list, id, key), tag));
    return isOurs ? { id: uuidOf(id), key: key.toString('utf8') } : undefined;
  }
}

function tagOf(secret: Buffer, list: string, id: Buffer, key: Buffer): Buffer {
  const hmac = createHmac('sha256', secret).update(list).update('\0').update(id).update(key);
  return hmac.digest().subarray(0, TAG_BYTES);
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
