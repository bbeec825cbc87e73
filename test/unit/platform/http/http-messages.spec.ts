// What headers say of the body and keep it from being read, and which incoming request ids are taken.
import { randomUUID } from 'node:crypto';
import { parse } from 'node:querystring';
import {
  clientRequestIdOf,
  faultOfLabel,
  idOfRequest,
  requestIdOf,
} from '../../../../src/platform/http/http-messages.js';

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

const OWN = /^[0-9a-v]{20}$/;
const idOf = (incoming: string | string[] | undefined, isTrusted = true) =>
  idOfRequest({ headers: { 'x-request-id': incoming } }, isTrusted);

it.each([randomUUID(), '01JD9ZC5V2X7Q3M8', 'Root=1-67891233-abcdef'.replace('=', ':'), 'a'.repeat(128)])(
  '[D21] a well-formed id is kept if a proxy is trusted, and otherwise logged with a new one: %s',
  (sent) => {
    expect(idOf(sent)).toBe(sent);
    expect(clientRequestIdOf(sent)).toBeUndefined();
    const id = idOf(sent, false);
    expect(id).toMatch(OWN);
    expect(clientRequestIdOf(id)).toBe(sent);
  },
);

it('[D21] the oldest client-supplied ids are forgotten', () => {
  const ids = Array.from({ length: 20_001 }, () => idOf('of-the-client', false));
  const known = ids.filter((id) => clientRequestIdOf(id) === 'of-the-client');
  expect(known).toEqual(ids.slice(-known.length));
  expect(known.length).toBeLessThanOrEqual(20_000);
  expect(known.length).toBeGreaterThan(18_000);
});

it.each<[string, string | string[] | undefined]>([
  ['none', undefined],
  ['an empty one', ''],
  ['two', ['first-of-two', 'second-of-two']],
  ['one with a space', 'request id'],
  ['one with a line in it', 'request-id\r\nset-cookie: x'],
  ['one with an escape sequence', 'request-id\u001b[2J'],
  ['one beyond ASCII', 'request-ïd'],
  ['an over-long one', 'a'.repeat(10_000)],
])('[D21] %s is replaced', (_, incoming) => {
  for (const isTrusted of [true, false]) {
    const id = idOf(incoming, isTrusted);
    expect(id).toMatch(OWN);
    expect(clientRequestIdOf(id)).toBeUndefined();
  }
});

it('[D21] each new id is unique and sorts after the earlier ones', () => {
  const ids = Array.from({ length: 100 }, () => idOf(undefined));
  expect(new Set(ids).size).toBe(100);
  expect([...ids].sort()).toEqual(ids);
});

it('[D21] an id that the server has assigned is kept, unless others may have it', () => {
  expect(requestIdOf({ id: 'of-the-server' })).toBe('of-the-server');
  for (const id of ['req-1', 'req-46656', 7]) expect(requestIdOf({ id })).toMatch(OWN);
});
