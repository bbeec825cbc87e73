// Decodes UTF-8, and names any other encoding.
import { isUtf8 } from 'node:buffer';

/** The bytes are not UTF-8. The message follows the name of what contains them. */
export class EncodingError extends Error {}

/**
 * Beginnings of UTF-16 and UTF-32 with one character per byte: a byte order mark, or an ASCII character with
 * its zero bytes.
 */
const WIDE: readonly (readonly [RegExp, string])[] = [
  [/^(\xff\xfe\0\0|\0\0\xfe\xff|[^\0]\0{3}|\0{3}[^\0])/, 'UTF-32'],
  [/^(\xff\xfe|\xfe\xff|[^\0]\0|\0[^\0])/, 'UTF-16'],
];
/**
 * Not refused here: comments around a PEM may have any encoding, and the key parser recognizes DER (a
 * sequence and its length).
 */
const KEY = /^0[^ -~\s]|-----BEGIN /;

/**
 * Decodes a file or a response, without its byte order mark (RFC 8259 §8.1).
 * @throws EncodingError if the bytes are not UTF-8
 */
export function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = buffer.toString('latin1', 0, 4);
  const wide = WIDE.find(([pattern]) => pattern.test(start));
  if (wide !== undefined) throw new EncodingError(`is ${wide[1]} and must be UTF-8`);
  if (!isUtf8(buffer) && !KEY.test(buffer.toString('latin1')))
    throw new EncodingError('is not UTF-8, but perhaps Windows-1252');
  return withoutMark(buffer.toString('utf8'));
}

/** Removes the byte order mark that some editors write. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
