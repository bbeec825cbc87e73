// That JSON is read with one meaning only: compared with JSON.parse on made and on random texts.
import { isDeepStrictEqual } from 'node:util';
import {
  JsonError,
  explainJsonError,
  hasUnstorableText,
  isUnstorable,
  parseStrictJson,
  parseStrictJsonBytes,
} from '../../../../src/platform/json/strict-json.js';

describe('duplicate members', () => {
  it.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '{ "a" : 1 ,\n"a"\t:\r2 }',
    '{"a":1,"\\u0061":2}',
    '{"alg":1,"\\u0061l\\u0067":2}',
    '{"é":1,"\\u00e9":2}',
    '{"😀":1,"\\ud83d\\ude00":2}',
    '{"/":1,"\\/":2}',
    '{"\\"":1,"\\u0022":2}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"x":{"a":1,"a":2}}',
    '[{"a":1,"a":2}]',
    '{"x":[[{"y":{"a":1,"a":2}}]]}',
    '{"a":{"b":1},"c":{"b":1},"a":2}',
    '{"a":[1,2,{"a":1}],"a":2}',
    '{"a":"}","a":2}',
    '{"a":"\\\\","a":2}',
    '{"a":"\\"","a":2}',
  ])('[D37] are refused: %j', (text) => {
    expect(() => JSON.parse(text) as unknown).not.toThrow();
    expect(() => parseStrictJson(text)).toThrow(JsonError);
  });

  it.each([
    '{"a":1,"A":1}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":"a","b":"a"}',
    '{"a":["a","a",{"a":1}],"b":{"a":1}}',
    '{"a":"{\\"b\\":1,\\"b\\":2}"}',
    '{"a":"b\\":","b":1}',
    '{"a ":1,"a":2}',
    '{"é":1,"e\\u0301":2}',
    '["a","a"]',
    '"a"',
    '{"__proto__":1,"constructor":2,"toString":3}',
  ])('[D37] equal words elsewhere are none: %j', (text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });
});

describe('what is no JSON', () => {
  it.each([
    '',
    ' ',
    '{',
    '{"a":1',
    '{a:1}',
    "{'a':1}",
    '{"a":1,}',
    '[1,]',
    '01',
    'NaN',
    '"\n"',
    '// x\n1',
    '\ufeff{}',
  ])('[D15] is refused, and its text not repeated: %j', (text) =>
    expect(() => parseStrictJson(text)).toThrow(new JsonError('not valid JSON')),
  );

  it.each([
    ['a byte alone', [0x22, 0xff, 0x22]],
    ['an over-long form', [0x22, 0xc0, 0xaf, 0x22]],
    ['a surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a cut sequence', [0x22, 0xe2, 0x82, 0x22]],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x31]],
    ['UTF-16', [0xff, 0xfe, 0x31, 0x00]],
  ])('[D15] %s in bytes is refused', (_, bytes) => {
    expect(() => parseStrictJsonBytes(Uint8Array.from(bytes))).toThrow(JsonError);
  });

  it('[D15] UTF-8 is read', () =>
    expect(parseStrictJsonBytes(Buffer.from('{"é":"😀"}'))).toEqual({ é: '😀' }));
});

describe('depth', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

  it.each([16, 32])('[D15] %d levels are read', (depth) =>
    expect(parseStrictJson(nested(depth))).toEqual(JSON.parse(nested(depth))),
  );

  it.each([33, 1_000, 500_000])('[D15] %d levels are refused without harm', (depth) => {
    expect(() => parseStrictJson(nested(depth))).toThrow(JsonError);
    expect(() => parseStrictJson('{"a":'.repeat(depth) + '1' + '}'.repeat(depth))).toThrow(JsonError);
    expect(() => parseStrictJson('['.repeat(depth))).toThrow(JsonError);
  });

  it('[D15] many arrays side by side are not deep', () => {
    expect(parseStrictJson(`[${'[],'.repeat(1_000)}{}]`)).toHaveLength(1_001);
  });
});

describe('strings that storage cannot hold', () => {
  it.each(['a\0b', '\0', '\ud800', 'a\udc00', '\udc00\ud800', '😀\ud83d'])('[D42] %j is one', (text) => {
    expect(isUnstorable(text)).toBe(true);
    for (const value of [text, [text], { a: text }, { [text]: 1 }, [{ a: [{ b: text }] }]]) {
      expect(hasUnstorableText(value)).toBe(true);
    }
  });

  it.each(['', 'a', '😀', '\u0001', '\u007f', '\ufffd', '\uffff', '\\u0000'])('[D42] %j is none', (text) => {
    expect(isUnstorable(text)).toBe(false);
    expect(hasUnstorableText([{ [text]: [text, 1, null, true] }])).toBe(false);
  });
});

/** Mulberry32: the same numbers from 0 to 1 for the same seed on every machine. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NAMES = ['a', 'b', 'alg', '"', '\\', '{', ':', '}', '[', ',', '', 'é', '😀', '__proto__'];
const SCALARS = [0, -1.5e3, true, false, null, 'a', 'a":1', '}', '\\', '\n', '{"a":1,"a":2}'];

class RandomJson {
  private readonly next: () => number;

  constructor(seed: number) {
    this.next = randomNumbers(seed);
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  /** A text of a random value, with random white space and escapes; `extra` is put into one of the objects. */
  text(depth = 4): string {
    const kind = depth === 0 ? 0 : this.next();
    if (kind < 0.3) return this.string(this.pick(SCALARS));
    const size = Math.floor(this.next() * 4);
    if (kind < 0.5) return `[${this.joined(Array.from({ length: size }, () => this.text(depth - 1)))}]`;
    const names = [...new Set(Array.from({ length: size }, () => this.pick(NAMES)))];
    return `{${this.joined(names.map((name) => this.member(name, this.text(depth - 1))))}}`;
  }

  /** A text in which one object, at a random depth, has the same member twice. */
  duplicated(): string {
    const name = this.pick(NAMES);
    const members = [this.member(name, this.text(2)), this.member(name, this.text(2))];
    const others = NAMES.filter((other) => other !== name && this.next() < 0.2);
    const object = [...others.map((other) => this.member(other, this.text(1))), ...members];
    return this.wrapped(`{${this.joined(object.sort(() => this.next() - 0.5))}}`);
  }

  /** A few pieces of an object in any order: mostly no JSON, now and then some. */
  noise(): string {
    const pieces = ['"a":1', '"\\u0061":2', '"b":{', '"a":[', '}', ']', ',', ',', '"', ' '];
    return `{${Array.from({ length: Math.floor(this.next() * 7) }, () => this.pick(pieces)).join('')}}`;
  }

  private wrapped(text: string): string {
    const depth = Math.floor(this.next() * 6);
    let whole = text;
    for (let level = 0; level < depth; level++) {
      whole = this.next() < 0.5 ? `[${this.joined([this.text(1), whole])}]` : `{${this.member('w', whole)}}`;
    }
    return whole;
  }

  private member(name: string, value: string): string {
    return `${this.string(name)}${this.space()}:${this.space()}${value}`;
  }

  private joined(parts: string[]): string {
    return this.space() + parts.join(`${this.space()},${this.space()}`) + this.space();
  }

  private space(): string {
    return this.pick(['', '', '', ' ', '\n', '\r\n\t']);
  }

  /** Any character may be written as an escape. */
  private string(value: unknown): string {
    if (typeof value !== 'string' || this.next() < 0.5) return JSON.stringify(value);
    return `"${value.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
  }
}

/** JSON.parse of Node.js 24 and 26 is no measure for names with escapes (nodejs/node#63785). */
function isMeasuredByJsonParse(text: string): boolean {
  JSON.parse('{"h":[],"\\\\":0}');
  const [, name] = Object.keys(JSON.parse('{"h":1,"\\"":2}') as object);
  return name === '"' || !/"[^"\\]*\\(?:[^"\\]|\\.)*"\s*:/.test(text);
}

/** How many members a text writes: colons outside strings. */
const writtenMembers = (text: string) => text.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;

/** How many members a value has, at all depths. */
function heldMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, member) => sum + heldMembers(member), own);
}

function outcome(parse: () => unknown): { value: unknown } | 'refused' {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof JsonError || error instanceof SyntaxError) return 'refused';
    throw error;
  }
}

describe('random texts', () => {
  const seeds = Array.from({ length: 2_000 }, (_, seed) => seed);

  it('[D37] what has no duplicate is read as JSON.parse reads it', () => {
    const texts = seeds.map((seed) => new RandomJson(seed).text()).filter(isMeasuredByJsonParse);
    expect(texts.length).toBeGreaterThan(500);
    const differing = texts.filter((text) => !isDeepStrictEqual(parseStrictJson(text), JSON.parse(text)));
    expect(differing).toEqual([]);
  });

  it('[D37] escaped names are read as they are, after other texts too', () => {
    // nodejs/node#63785: after the first of these JSON.parse reads the quotation mark in the second as a backslash.
    const poison = () => parseStrictJson('{"h":[],"\\\\":0}') && JSON.parse('{"h":[],"\\\\":0}');
    poison();
    expect(parseStrictJson('{"h":1,"\\"":2}')).toEqual({ h: 1, '"': 2 });
    poison();
    expect(() => parseStrictJson('{"h":1,"sub":2,"\\u0073ub":3}')).toThrow('a member is given twice');
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
  ])('[B.work] %s take time in proportion', (_, start, rest) => {
    const text = start + rest;
    const startedAt = performance.now();
    expect(() => parseStrictJson(text)).toThrow(new JsonError('not valid JSON'));
    // Some milliseconds; in the square of the length seconds.
    expect(performance.now() - startedAt).toBeLessThan(500);
  });

  it('[D37] what has a duplicate is refused', () => {
    const accepted = seeds
      .map((seed) => new RandomJson(seed).duplicated())
      .filter((text) => outcome(() => parseStrictJson(text)) !== 'refused');
    expect(accepted).toEqual([]);
  });

  it('[D37] of any text exactly those are refused that JSON.parse refuses or that lose a member', () => {
    const texts = Array.from({ length: 50_000 }, (_, seed) => new RandomJson(seed).noise());
    const judged = texts.map((text) => {
      const plain = outcome(() => JSON.parse(text) as unknown);
      const loses = plain !== 'refused' && heldMembers(plain.value) < writtenMembers(text);
      return { text, plain, loses, strict: outcome(() => parseStrictJson(text)) };
    });
    const wrong = judged.filter(
      ({ plain, loses, strict }) => !isDeepStrictEqual(strict, loses ? 'refused' : plain),
    );
    expect(wrong).toEqual([]);
    expect(judged.filter(({ plain }) => plain !== 'refused').length).toBeGreaterThan(1_000);
    expect(judged.filter(({ loses }) => loses).length).toBeGreaterThan(50);
  });
});

describe('[D83] the place of a fault', () => {
  const MARKER = 'marker-5150 in JSON at position 3';

  it.each([
    ['nothing', '', 'line 1, column 1'],
    ['a comma too many', '[1,\n2,\n]', 'line 3, column 1'],
    ['a comma too many in an object', '{"a":1,\r\n}', 'line 2, column 1'],
    ['lines that end as on a Mac of old', '[1,\r2,\rx]', 'line 3, column 1'],
    ['a missing comma', '[{"a":1}\n{"b":2}]', 'line 2, column 1'],
    ['a name without quotation marks', `{${MARKER}:1}`, 'line 1, column 2'],
    ['a word', `["a","b",${MARKER}]`, 'line 1, column 10'],
    ['a word of which only the end is wrong', '{"a":trux}', 'line 1, column 9'],
    ['single quotation marks', `['${MARKER}']`, 'line 1, column 2'],
    ['a string without end', `["${MARKER}`, 'line 1, column 36'],
    ['a line break in a string', `["a",\n"${MARKER}\n"]`, 'line 2, column 35'],
    ['a byte order mark', '\ufeff[]', 'line 1, column 1'],
    ['something behind', '[]\n[]', 'line 2, column 1'],
    ['an early end', '{"a":\n"b"', 'line 2, column 4'],
    ['a place deep inside', `${'[\n'.repeat(30)}+1${']'.repeat(30)}`, 'line 31, column 1'],
  ])('is that of %s', (_, text, place) => expect(faultOf(text)).toBe(`not valid JSON (${place})`));

  it('is not told of what JSON.parse takes', () => {
    expect(faultOf('{"a":1,"a":2}')).toBe('a member is given twice');
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
