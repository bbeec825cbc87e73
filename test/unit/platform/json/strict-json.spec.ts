// JSON is read with one meaning only. test/fuzz compares random texts with JSON.parse.
import {
  explainJsonError,
  hasUnstorableText,
  isUnstorable,
  JsonError,
  parseStrictJson,
  parseStrictJsonBytes,
} from '../../../../src/platform/json/strict-json.js';
import { quickestMs } from '../../../support/quickest.js';

describe('duplicate properties', () => {
  it.each([
    '{"a":1,"b":2,"a":3}',
    '{ "a" : 1 ,\n"a"\t:\r2 }',
    '{"a":1,"\\u0061":2}',
    '{"é":1,"\\u00e9":2}',
    '{"😀":1,"\\ud83d\\ude00":2}',
    '{"\\"":1,"\\u0022":2}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"x":[[{"y":{"a":1,"a":2}}]]}',
    '{"a":{"b":1},"c":{"b":1},"a":2}',
    '{"a":"}","a":2}',
    '{"a":"\\"","a":2}',
  ])('[D37] are rejected: %j', (text) => {
    expect(() => JSON.parse(text) as unknown).not.toThrow();
    expect(() => parseStrictJson(text)).toThrow(JsonError);
  });

  it.each([
    '{"a":1,"A":1}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":["a","a",{"a":1}],"b":{"a":1}}',
    '{"a":"{\\"b\\":1,\\"b\\":2}"}',
    '{"a":"b\\":","b":1}',
    '{"é":1,"e\\u0301":2}',
    '"a"',
    '{"__proto__":1,"constructor":2,"toString":3}',
  ])('[D37] do not include equal strings elsewhere: %j', (text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });
});

describe('invalid JSON', () => {
  it.each(['', ' ', '{', '{"a":1', '{"a":1,}', '01', '"\n"', '\ufeff{}'])(
    '[D14] is rejected without repeating its content: %j',
    (text) => expect(() => parseStrictJson(text)).toThrow(new JsonError('not valid JSON')),
  );

  it.each([
    ['a byte alone', [0x22, 0xff, 0x22]],
    ['a surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x31]],
    ['UTF-16', [0xff, 0xfe, 0x31, 0x00]],
  ])('[D14] in bytes is rejected: %s', (_, bytes) => {
    expect(() => parseStrictJsonBytes(Uint8Array.from(bytes))).toThrow(JsonError);
  });
});

describe('depth', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

  it.each([16, 32])('[D14] of %d levels is accepted', (depth) =>
    expect(parseStrictJson(nested(depth))).toEqual(JSON.parse(nested(depth))),
  );

  it.each([33, 1_000, 500_000])('[D14] of %d levels is rejected without harm', (depth) => {
    expect(() => parseStrictJson(nested(depth))).toThrow(JsonError);
    expect(() => parseStrictJson('{"a":'.repeat(depth) + '1' + '}'.repeat(depth))).toThrow(JsonError);
    expect(() => parseStrictJson('['.repeat(depth))).toThrow(JsonError);
  });
});

describe('strings that storage cannot hold', () => {
  it.each(['a\0b', '\0', '\ud800', 'a\udc00', '\udc00\ud800', '😀\ud83d'])('[D42] include %j', (text) => {
    expect(isUnstorable(text)).toBe(true);
    for (const value of [text, [text], { a: text }, { [text]: 1 }, [{ a: [{ b: text }] }]]) {
      expect(hasUnstorableText(value)).toBe(true);
    }
  });

  it.each(['', 'a', '😀', '\u0001', '\u007f', '\ufffd', '\uffff', '\\u0000'])(
    '[D42] do not include %j',
    (text) => {
      expect(isUnstorable(text)).toBe(false);
      expect(hasUnstorableText([{ [text]: [text, 1, null, true] }])).toBe(false);
    },
  );
});

describe('unusual input', () => {
  it('[D37] escaped names are read correctly, also after other input', () => {
    // nodejs/node#63785: after the first of these JSON.parse reads the quotation mark in the second as a backslash.
    const poison = () => parseStrictJson('{"h":[],"\\\\":0}') && JSON.parse('{"h":[],"\\\\":0}');
    poison();
    expect(parseStrictJson('{"h":1,"\\"":2}')).toEqual({ h: 1, '"': 2 });
    poison();
    expect(() => parseStrictJson('{"h":1,"sub":2,"\\u0073ub":3}')).toThrow('a property is given twice');
    expect(
      parseStrictJson('{"h":1,"\\u0073ub":{"\\u005f_proto__":[{"n0":1}]},"sub ":"\\u0041\\":"}'),
    ).toEqual({
      h: 1,
      sub: JSON.parse('{"__proto__":[{"n0":1}]}') as unknown,
      'sub ': 'A":',
    });
    for (const text of ['{"\\u0073ub":', '{"\\x":1}', '{"\\u00":1}', '{"a":1,"\\n":2}}'])
      expect(() => parseStrictJson(text)).toThrow(new JsonError('not valid JSON'));
  });

  it.each([
    ['an escaped name and a string without an end', '{"\\u0061":1,"', '\\"'.repeat(50_000)],
    ['colons behind a name', '{"a":"\\n","b"', ':'.repeat(1_000_000)],
  ])('[B.work] %s are parsed in linear time', (_, start, rest) => {
    const text = start + rest;
    const read = () => expect(() => parseStrictJson(text)).toThrow(new JsonError('not valid JSON'));
    // Some milliseconds; in the square of the length seconds.
    expect(quickestMs(500, read)).toBeLessThan(500);
  });
});

describe('[D32] the position of an error', () => {
  const MARKER = 'marker-5150 in JSON at position 3';

  it.each([
    ['nothing', '', 'line 1, column 1'],
    ['a comma too many', '[1,\n2,\n]', 'line 3, column 1'],
    ['a name without quotation marks', `{${MARKER}:1}`, 'line 1, column 2'],
    ['a word of which only the end is wrong', '{"a":trux}', 'line 1, column 9'],
    ['a string without end', `["${MARKER}`, 'line 1, column 36'],
    ['a line break in a string', `["a",\n"${MARKER}\n"]`, 'line 2, column 35'],
    ['something behind', '[]\n[]', 'line 2, column 1'],
    ['a place deep inside', `${'[\n'.repeat(30)}+1${']'.repeat(30)}`, 'line 31, column 1'],
  ])('is right for %s', (_, text, place) => expect(faultOf(text)).toBe(`not valid JSON (${place})`));

  it('is not reported for input that JSON.parse accepts', () => {
    expect(faultOf('{"a":1,"a":2}')).toBe('a property is given twice');
  });

  function faultOf(text: string): string | undefined {
    try {
      parseStrictJson(text);
    } catch (error) {
      return explainJsonError(error as JsonError, text);
    }
    return undefined;
  }
});
