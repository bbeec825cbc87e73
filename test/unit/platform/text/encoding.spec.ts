// Bytes are decoded as UTF-8. Invalid bytes get an error message.
import { EncodingError, textOf, withoutMark } from '../../../../src/platform/text/encoding.js';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const bigEndian = (text: string) => utf16(text).swap16();
const utf32 = (text: string) =>
  Buffer.concat([...text].map((letter) => Uint8Array.of(letter.charCodeAt(0), 0, 0, 0)));
const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

describe('[D32] bytes of a file or an answer', () => {
  it.each([
    ['without a mark', Buffer.from('{"é":1}'), '{"é":1}'],
    ['with a mark', Buffer.from('\ufeff{"é":1}'), '{"é":1}'],
    ['with a mark inside', Buffer.from('a\ufeff'), 'a\ufeff'],
    ['with NUL in the middle', Buffer.from('abc\0'), 'abc\0'],
    ['that are none', Buffer.alloc(0), ''],
    ['of a PEM below a comment in another encoding', latin1(`Zürich\n${PEM}`), `Z\ufffdrich\n${PEM}`],
    ['of a key in DER', Buffer.of(0x30, 0x82, 0xff), '0\ufffd\ufffd'],
  ])('%s are accepted', (_, bytes, text) => expect(textOf(bytes)).toBe(text));

  it.each([
    ['UTF-16 with a mark', utf16('\ufeff[]'), 'is UTF-16 and must be UTF-8'],
    ['UTF-16 without a mark', utf16('[]'), 'is UTF-16 and must be UTF-8'],
    ['UTF-16 in the other order, without a mark', bigEndian('[]'), 'is UTF-16 and must be UTF-8'],
    ['UTF-32 with a mark', utf32('\ufeff[]'), 'is UTF-32 and must be UTF-8'],
    ['Windows-1252', latin1('{"name":"Zürich"}'), 'is not UTF-8, but perhaps Windows-1252'],
    ['a cut sequence', Buffer.of(0x61, 0xe2, 0x82), 'is not UTF-8, but perhaps Windows-1252'],
  ])('in %s are rejected', (_, bytes, message) =>
    expect(() => textOf(bytes)).toThrow(new EncodingError(message)),
  );
});

it('[D32] a string from a host loses a leading byte order mark, but no other', () => {
  expect(['\ufeff[]', '[]', '[\ufeff]', ''].map(withoutMark)).toEqual(['[]', '[]', '[\ufeff]', '']);
});
