// Checks what the headers of a request say of its body: content coding, media type, charset.

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
 * What is wrong with the label of a body that ought to be of one media type, in UTF-8 and not encoded (RFC 9110 §8.3, §8.4);
 * undefined: nothing. Neither forms nor JSON have a charset, but many clients name it.
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
