// Checks the headers that describe a request's body. Each route reads one media type.
import { isAscii } from 'node:buffer';
import { UnsupportedMediaTypeException } from '@nestjs/common';
import { CODING_MESSAGE } from './answers.js';

/**
 * Much larger than the largest token (64 KiB), so that an over-long token is checked as a token.
 * @rule B.body The same limit for all routes.
 */
export const BODY_LIMIT_BYTES = 256 * 1024;
export const TOO_LARGE_MESSAGE = `The request body is larger than ${BODY_LIMIT_BYTES / 1024} KiB`;

/**
 * Replaces a body above the limit. The route refuses it, because guards may refuse the request first (D20).
 */
export const TOO_LARGE = Symbol('a body over the limit');

/** The highest number of form fields. No honest form comes close. */
export const MAX_FIELDS = 100;

/** The headers that describe a body. */
export interface BodyLabel {
  readonly 'content-type'?: string;
  readonly 'content-encoding'?: string;
}

/** Why a body cannot be read. */
export type LabelFault = 'content_encoding' | 'media_type' | 'charset';

const UTF_8: ReadonlySet<string> = new Set(['utf-8', 'utf8']);
/** Equal to UTF-8 for ASCII. Apache HttpClient sends `ISO-8859-1` by default. */
const SAME_IN_ASCII: ReadonlySet<string> = new Set([...UTF_8, 'iso-8859-1', 'us-ascii']);

/**
 * Checks the headers of a body that must have one media type, in UTF-8 and without a content coding (RFC 9110
 * §8.3, §8.4). Forms and JSON have no charset parameter, but many clients send one.
 * @param form the form's fields, which may have another charset if they are all ASCII
 * @returns undefined if the body can be read
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

/** Undefined for any other parameter. */
function charsetIn(parameter: string): string | undefined {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim().toLowerCase() === 'charset' ? value.replaceAll('"', '').trim().toLowerCase() : undefined;
}

/** The body is compressed, or has another content coding. */
export class ContentCodingException extends UnsupportedMediaTypeException {
  constructor() {
    super({ error: 'unsupported_media_type', message: CODING_MESSAGE });
  }
}
