// What the headers of a request say of its body, what of it keeps the body from being read, and what is kept of one that is unfinished.
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  BODY_LIMIT_BYTES,
  BODY_TOO_LARGE,
  faultOfLabel,
  readBody,
} from '../../../../src/platform/http/body.js';

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

const FORM = 'application/x-www-form-urlencoded';
const faultOfForm = (charset: string, text: string) =>
  faultOfLabel({ 'content-type': `${FORM}; charset=${charset}` }, FORM, Buffer.from(text, 'latin1'));

it.each(['ISO-8859-1', 'us-ascii', '"iso-8859-1"'])(
  '[D57][K38] the charset %s of a form is taken where all of it is ASCII, as it stands and decoded',
  (charset) => {
    for (const text of ['', 'a=b%20c+%7E%7F', 'a=%cz', 'a=%f'])
      expect(faultOfForm(charset, text)).toBeUndefined();
    for (const text of ['a=\u00e4', 'a=%E4', 'a=%C3%A4', '%80=', 'a=%fF'])
      expect(faultOfForm(charset, text)).toBe('charset');
  },
);

it.each(['utf-16', 'windows-1252', 'utf-7', '', 'iso-8859-1; charset=utf-16'])(
  '[D57] the charset %j of a form is refused, also where all of it is ASCII',
  (charset) => expect(faultOfForm(charset, 'a=b')).toBe('charset'),
);

it('[D57] of two charsets both count', () =>
  expect(faultOf(`${TYPE}; charset=utf-8; charset=utf-16`)).toBe('charset'));

it.each(['gzip', 'br', 'identity, gzip', 'x', ' '])('[D57] the content coding %j is refused', (coding) =>
  expect(faultOf(TYPE, coding)).toBe('content_encoding'),
);

it.each([undefined, '', 'identity', 'Identity'])('[D57] the content coding %j is none', (coding) =>
  expect(faultOf(TYPE, coding)).toBeUndefined(),
);

describe('[B.body] a body in chunks', () => {
  const KIB = 1024;
  const read = () => {
    const stream = new PassThrough();
    return { stream, body: readBody(stream as unknown as IncomingMessage, 0) };
  };

  it.each([
    [[], ''],
    [['ab'], 'ab'],
    [['a', 'bc', 'defghi', 'j'], 'abcdefghij'],
  ])('of %j is %j', async (chunks, expected) => {
    const { stream, body } = read();
    chunks.forEach((chunk) => stream.write(chunk));
    stream.end();
    expect(String(await body)).toBe(expected);
  });

  it('is taken at the limit, and not beyond it', async () => {
    for (const [more, length] of [
      [0, BODY_LIMIT_BYTES],
      [1, undefined],
    ] as const) {
      const { stream, body } = read();
      for (let sent = 0; sent < BODY_LIMIT_BYTES; sent += 16 * KIB) stream.write(Buffer.alloc(16 * KIB));
      stream.end(Buffer.alloc(more));
      const found = await body;
      expect(found === BODY_TOO_LARGE ? undefined : found?.length).toBe(length);
    }
  });

  it('of one byte each takes about its own bytes', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { stream } = read();
    collect();
    const before = process.memoryUsage();
    for (let sent = 1; sent < BODY_LIMIT_BYTES; sent += 1) {
      stream.write(Buffer.from([65]));
      if (sent % 1_000 === 0) await setImmediate();
    }
    await setImmediate();
    collect();
    const after = process.memoryUsage();
    // As many objects would take some 25 MB.
    expect(after.heapUsed - before.heapUsed).toBeLessThan(8 * KIB * KIB);
    stream.destroy();
    await setImmediate();
  });
});
