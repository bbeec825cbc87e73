// What the headers of a request say of its body, and what of it keeps the body from being read.
import { faultOfLabel } from '../../../../src/platform/http/body.js';

const TYPE = 'application/json';
const faultOf = (contentType: string | undefined, contentEncoding?: string) =>
  faultOfLabel({ 'content-type': contentType, 'content-encoding': contentEncoding }, TYPE);

it.each([
  TYPE,
  'Application/JSON',
  ' application/json ;x=y',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json; Charset="utf-8"',
  'application/json; charset=utf8',
  'application/json; charset = utf-8 ; boundary=x',
])('[4.2] %j is taken', (type) => expect(faultOf(type)).toBeUndefined());

it.each([undefined, '', 'text/plain', 'application/jsonp', 'application/json, text/plain', ';;;'])(
  '[D20] %j is another media type',
  (type) => expect(faultOf(type)).toBe('media_type'),
);

it.each(['utf-16', 'iso-8859-1', 'us-ascii', 'utf-7', '""', '', 'utf-8-x'])(
  '[D57] the charset %j is refused',
  (charset) => expect(faultOf(`${TYPE}; charset=${charset}`)).toBe('charset'),
);

it('[D57] of two charsets both count', () =>
  expect(faultOf(`${TYPE}; charset=utf-8; charset=utf-16`)).toBe('charset'));

it.each(['gzip', 'br', 'identity, gzip', 'x', ' '])('[D57] the content coding %j is refused', (coding) =>
  expect(faultOf(TYPE, coding)).toBe('content_encoding'),
);

it.each([undefined, '', 'identity', 'Identity'])('[D57] the content coding %j is none', (coding) =>
  expect(faultOf(TYPE, coding)).toBeUndefined(),
);
