// What the headers of a request say of its body, which each route compares with the one kind that it reads.
import { isAscii } from 'node:buffer';
import { UnsupportedMediaTypeException } from '@nestjs/common';
import { CODING_MESSAGE } from './answers.js';

/**
 * Larger than the largest token (64 KiB) by far, so that an over-long token is checked as a token.
 * @rule B.body For all routes alike.
 */
export const BODY_LIMIT_BYTES = 256 * 1024;
export const TOO_LARGE_MESSAGE = `The request body is larger than ${BODY_LIMIT_BYTES / 1024} KiB`;

/** In the place of a body over the limit. Its route refuses it, because guards may refuse the request first (D20). */
export const TOO_LARGE = Symbol('a body over the limit');

/** Of a form. No honest one comes near it. */
export const MAX_FIELDS = 100;

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

/**
 * The fault in the label of a body that must be of one media type, in UTF-8 and not encoded (RFC 9110 §8.3, §8.4); undefined:
 * none. Neither forms nor JSON have a charset, but many clients name it.
 * @param form the fields of a form, which may name another charset if all of it is ASCII
 */
export function faultOfLabel(
  { 'content-encoding': coding = '', 'content-type': label = '' }: BodyLabel,
  mediaType: string,
  form?: object,
): LabelFault | undefined {
  if (!/^(identity)?$/i.test(coding)) return 'content_encoding';
  const [type = '', ...parameters] = label.split(';');
  if (type.trim().toLowerCase() !== mediaType) return 'media_type';
  const charsets = parameters.map(charsetIn).filter((name) => name !== undefined);
  if (charsets.every((name) => UTF_8.has(name))) return undefined;
  const isSame = form !== undefined && charsets.every((name) => SAME_IN_ASCII.has(name));
  return isSame && isAscii(Buffer.from(JSON.stringify(form))) ? undefined : 'charset';
}

/** Undefined for a parameter of something else. */
function charsetIn(parameter: string): string | undefined {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim().toLowerCase() === 'charset' ? value.replaceAll('"', '').trim().toLowerCase() : undefined;
}

/** A body came compressed, or in another content coding. */
export class ContentCodingException extends UnsupportedMediaTypeException {
  constructor() {
    super({ error: 'unsupported_media_type', message: CODING_MESSAGE });
  }
}
