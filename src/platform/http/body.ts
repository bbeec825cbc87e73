// Reads the body of a request, up to one limit for all routes, and checks what its headers say of it.
import { isAscii } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { UnsupportedMediaTypeException } from '@nestjs/common';
import { CODING_MESSAGE } from './answers.js';

/**
 * Larger than the largest token (64 KiB) by far, so that an over-long token is checked as a token.
 * @rule B.body For all routes alike. See flow.guards.ts and json-body.ts for the 413, in its turn.
 */
export const BODY_LIMIT_BYTES = 256 * 1024;

const NOTHING: Buffer = Buffer.alloc(0);

/** Stands for a body over the limit; the route that reads it refuses the request, after its other checks (D20). */
export const BODY_TOO_LARGE = Symbol('a body over the limit');

/** A body as routes find it; undefined where the request has none. */
export type RequestBody = Buffer | typeof BODY_TOO_LARGE | undefined;

/** The body broke off: its client has disconnected, so the status is for the log. */
class IncompleteBodyError extends Error {
  readonly statusCode = 400;
}

/**
 * Reads a body. Of one that is too large nothing is kept: it resolves at the limit, or at once where the body is declared so.
 * @param declaredBytes what `Content-Length` says; 0 where it says nothing
 * @rule D124 What is left of a body that is too large is read and thrown away, so that its client gets the answer.
 * @throws IncompleteBodyError
 */
export function readBody(stream: IncomingMessage, declaredBytes: number): Promise<RequestBody> {
  let kept = NOTHING;
  let length = declaredBytes > BODY_LIMIT_BYTES ? declaredBytes : 0;
  return new Promise((resolve, reject) => {
    if (length > 0) resolve(BODY_TOO_LARGE);
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      kept = length > BODY_LIMIT_BYTES ? NOTHING : joined(kept, chunk, length);
      if (length > BODY_LIMIT_BYTES) resolve(BODY_TOO_LARGE);
    });
    stream.on('end', () => resolve(kept.subarray(0, length)));
    stream.on('error', () => reject(new IncompleteBodyError('the body broke off')));
  });
}

/**
 * What was kept, with a chunk behind it. It is copied into room that doubles: of many small chunks each would otherwise stay an
 * object that takes a hundred times its bytes.
 * @param length of both together
 */
function joined(kept: Buffer, chunk: Buffer, length: number): Buffer {
  if (length === chunk.length) return chunk;
  const before = length - chunk.length;
  const isEnough = length <= kept.length;
  const room = isEnough ? kept : Buffer.alloc(Math.min(BODY_LIMIT_BYTES, Math.max(length, 2 * before)));
  if (!isEnough) kept.copy(room, 0, 0, before);
  chunk.copy(room, before);
  return room;
}

/** The headers that say what a body is. */
export interface BodyLabel {
  readonly 'content-type'?: string;
  readonly 'content-encoding'?: string;
}

/** What keeps a body from being read. */
export type LabelFault = 'content_encoding' | 'media_type' | 'charset';

const UTF_8: ReadonlySet<string> = new Set(['utf-8', 'utf8']);
/** In ASCII they say the same as UTF-8. Apache HttpClient names `ISO-8859-1` by default. */
const SAME_IN_ASCII: ReadonlySet<string> = new Set([...UTF_8, 'iso-8859-1', 'us-ascii']);

/** What nearly all clients send behind the media type, recognised without parsing the label. */
const USUAL_ENDS = new Set(['', ';charset=UTF-8', '; charset=utf-8', '; charset=UTF-8']);

/**
 * The fault in the label of a body that must be of one media type, in UTF-8 and not encoded (RFC 9110 §8.3, §8.4); undefined:
 * none. Neither forms nor JSON have a charset, but many clients name it.
 * @param form where it is one, which may name another charset if all of it is ASCII
 */
export function faultOfLabel(
  headers: BodyLabel,
  mediaType: string,
  form?: Uint8Array,
): LabelFault | undefined {
  const { 'content-encoding': coding = '', 'content-type': label = '' } = headers;
  if (!/^(identity)?$/i.test(coding)) return 'content_encoding';
  if (label.startsWith(mediaType) && USUAL_ENDS.has(label.slice(mediaType.length))) return undefined;
  const [type = '', ...parameters] = label.split(';');
  if (type.trim().toLowerCase() !== mediaType) return 'media_type';
  const charsets = parameters.map(charsetIn).filter((name) => name !== undefined);
  if (charsets.every((name) => UTF_8.has(name))) return undefined;
  const isSame = form !== undefined && charsets.every((name) => SAME_IN_ASCII.has(name)) && isAsciiForm(form);
  return isSame ? undefined : 'charset';
}

/** Undefined for a parameter of something else. */
function charsetIn(parameter: string): string | undefined {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim().toLowerCase() === 'charset' ? value.replaceAll('"', '').trim().toLowerCase() : undefined;
}

/** Whether each byte is below 0x80, as it stands and decoded. */
function isAsciiForm(form: Uint8Array): boolean {
  return isAscii(form) && !/%[89a-f][\da-f]/i.test(Buffer.from(form).toString('latin1'));
}

/** A body came compressed, or in another content coding. */
export class ContentCodingException extends UnsupportedMediaTypeException {
  constructor() {
    super({ error: 'unsupported_media_type', message: CODING_MESSAGE });
  }
}
