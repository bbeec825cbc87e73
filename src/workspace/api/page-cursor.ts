// Makes and reads cursors: the id at which a page ended, and proof that this instance wrote it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { KeyRing } from '../../token-exchange/sealing/key-ring.js';

const ID_BYTES = 16;
const TAG_BYTES = 16;
/** 32 bytes in base64url. */
export const CURSOR_CHARACTERS = 43;
const CURSOR = /^[\w-]{43}$/;

/**
 * A cursor is base64url(id ‖ tag), the tag being the first 16 bytes of HMAC-SHA256 over the list's name and the id. It
 * holds no offset, so it stays right whatever is inserted or deleted, and it outlives the rotation of keys.
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
   */
  write(list: string, id: string): string {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const [key = Buffer.alloc(0)] = this.keys;
    return Buffer.concat([bytes, tagOf(key, list, bytes)]).toString('base64url');
  }

  /** The id in a cursor of this list; undefined for everything that `write` did not make for it. */
  read(list: string, cursor: string): string | undefined {
    const bytes = Buffer.from(CURSOR.test(cursor) ? cursor : '', 'base64url');
    // The last character of the text has spare bits, which must be as they were written.
    if (bytes.length !== ID_BYTES + TAG_BYTES || bytes.toString('base64url') !== cursor) return undefined;
    const [id, tag] = [bytes.subarray(0, ID_BYTES), bytes.subarray(ID_BYTES)];
    return this.keys.some((key) => timingSafeEqual(tagOf(key, list, id), tag)) ? uuidOf(id) : undefined;
  }
}

function tagOf(key: Buffer, list: string, id: Buffer): Buffer {
  return createHmac('sha256', key).update(list).update('\0').update(id).digest().subarray(0, TAG_BYTES);
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
