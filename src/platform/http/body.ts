// Reads the body of a request, up to one limit for all routes, and checks what its headers say of it.
import type { IncomingMessage } from 'node:http';
import { UnsupportedMediaTypeException } from '@nestjs/common';
import { CODING_MESSAGE } from './answers.js';

/**
 * Larger than the largest token (64 KiB) by far, so that an over-long token is checked as a token.
 * @rule B.body For all routes alike. See flow.guards.ts and json-body.ts for the 413, in its turn.
 */
export const BODY_LIMIT_BYTES = 256 * 1024;

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
  const chunks: Buffer[] = [];
  let length = declaredBytes > BODY_LIMIT_BYTES ? declaredBytes : 0;
  return new Promise((resolve, reject) => {
    if (length > 0) resolve(BODY_TOO_LARGE);
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= BODY_LIMIT_BYTES) chunks.push(chunk);
      else {
        chunks.length = 0;
        resolve(BODY_TOO_LARGE);
      }
    });
    stream.on('end', () => resolve(Buffer.concat(chunks)));
    stream.on('error', () => reject(new IncompleteBodyError('the body broke off')));
  });
}

/** The headers that say what a body is. */
export interface BodyLabel {
  readonly 'content-type'?: string;
  readonly 'content-encoding'?: string;
}

/** What keeps a body from being read. */
export type LabelFault = 'content_encoding' | 'media_type' | 'charset';

const UTF_8 = new Set(['utf-8', 'utf8']);

/** What nearly all clients send behind the media type, recognised without parsing the label. */
const USUAL_ENDS = new Set(['', ';charset=UTF-8', '; charset=utf-8', '; charset=UTF-8']);

/**
 * The fault in the label of a body that must be of one media type, in UTF-8 and not encoded (RFC 9110 §8.3, §8.4); undefined:
 * none. Neither forms nor JSON have a charset, but many clients name it.
 */
export function faultOfLabel(headers: BodyLabel, mediaType: string): LabelFault | undefined {
  const { 'content-encoding': coding = '', 'content-type': label = '' } = headers;
  if (!/^(identity)?$/i.test(coding)) return 'content_encoding';
  if (label.startsWith(mediaType) && USUAL_ENDS.has(label.slice(mediaType.length))) return undefined;
  const [type = '', ...parameters] = label.split(';');
  if (type.trim().toLowerCase() !== mediaType) return 'media_type';
  return parameters.every(isUtf8) ? undefined : 'charset';
}

/** Whether a parameter is none of the charset, or UTF-8. */
function isUtf8(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  if (name.trim().toLowerCase() !== 'charset') return true;
  return UTF_8.has(value.replaceAll('"', '').trim().toLowerCase());
}

/** A body came compressed, or in another content coding. */
export class ContentCodingException extends UnsupportedMediaTypeException {
  constructor() {
    super({ error: 'unsupported_media_type', message: CODING_MESSAGE });
  }
}
