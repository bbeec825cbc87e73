// What the headers of a request say of its body, and what of it keeps the body from being read.
import { parse } from 'node:querystring';
import { faultOfLabel } from '../../../../src/platform/http/http-messages.js';

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
])('[4.2] %j is accepted', (type) => expect(faultOf(type)).toBeUndefined());

it.each([undefined, '', 'text/plain', 'application/jsonp', 'application/json, text/plain', ';;;'])(
  '[D20] %j is another media type',
  (type) => expect(faultOf(type)).toBe('media_type'),
);

it.each(['utf-16', 'iso-8859-1', 'us-ascii', 'utf-7', '""', '', 'utf-8-x'])(
  '[D57] the charset %j is rejected',
  (charset) => expect(faultOf(`${TYPE}; charset=${charset}`)).toBe('charset'),
);

const FORM = 'application/x-www-form-urlencoded';
const faultOfForm = (charset: string, text: string) =>
  faultOfLabel({ 'content-type': `${FORM}; charset=${charset}` }, FORM, { ...parse(text) });

it.each(['ISO-8859-1', 'us-ascii', '"iso-8859-1"'])(
  '[D57][K38] the charset %s of a form is accepted if the form is ASCII',
  (charset) => {
    for (const text of ['', 'a=b%20c+%7E%7F', 'a=%cz', 'a=%f', 'a=b&a=c'])
      expect(faultOfForm(charset, text)).toBeUndefined();
    for (const text of ['a=\u00e4', 'a=%E4', 'a=%C3%A4', '%80=', 'a=%fF', 'a=b&a=\ufffd'])
      expect(faultOfForm(charset, text)).toBe('charset');
  },
);

it.each(['utf-16', 'windows-1252', 'utf-7', '', 'iso-8859-1; charset=utf-16'])(
  '[D57] the charset %j of a form is rejected, even if the form is ASCII',
  (charset) => expect(faultOfForm(charset, 'a=b')).toBe('charset'),
);

it('[D57] two charsets are both checked', () =>
  expect(faultOf(`${TYPE}; charset=utf-8; charset=utf-16`)).toBe('charset'));

it.each(['gzip', 'br', 'identity, gzip', 'x', ' '])('[D57] the content coding %j is rejected', (coding) =>
  expect(faultOf(TYPE, coding)).toBe('content_encoding'),
);

it.each([undefined, '', 'identity', 'Identity'])('[D57] the content coding %j means none', (coding) =>
  expect(faultOf(TYPE, coding)).toBeUndefined(),
);
