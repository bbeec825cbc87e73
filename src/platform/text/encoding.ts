// Reads bytes as UTF-8 text, and names any other encoding.
import { isUtf8 } from 'node:buffer';

/** The bytes are not UTF-8. The message says what they are, in words that follow the name of what contains them. */
export class EncodingError extends Error {}

/** Starts of UTF-16 and UTF-32, one character per byte: a byte order mark, or an ASCII character with its zero bytes. */
const WIDE: readonly (readonly [RegExp, string])[] = [
  [/^(\xff\xfe\0\0|\0\0\xfe\xff|[^\0]\0{3}|\0{3}[^\0])/, 'UTF-32'],
  [/^(\xff\xfe|\xfe\xff|[^\0]\0|\0[^\0])/, 'UTF-16'],
];
/** Comments around a PEM may have any encoding, and the reader of keys recognizes DER: a sequence and its length. */
const KEY = /^0[^ -~\s]|-----BEGIN /;

/**
 * The text of a file, or of an answer, without its byte order mark (RFC 8259 §8.1).
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

/** A text without the byte order mark that some editors write at its beginning. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
