// Where a text stops being JSON, and in which words that is told.
import { explainJsonError, jsonFault } from '../../../../src/platform/json/json-fault.js';
import { JsonError, parseStrictJson } from '../../../../src/platform/json/strict-json.js';
import { randomFrom } from '../../../support/random.js';

const MARKER = 'marker-5150';

describe('[D83] the first fault of a text', () => {
  it.each([
    ['nothing', '', 'line 1, column 1: the text is empty'],
    ['blanks', ' \n ', 'line 2, column 2: the text is empty'],
    [
      'a byte order mark',
      '\ufeff[]',
      'line 1, column 1: a byte order mark: save the text as UTF-8 without one',
    ],
    [
      'UTF-16',
      '\ufffd\ufffd[\0]\0',
      'line 1, column 1: a character that is no UTF-8: save the text as UTF-8',
    ],
    [
      'the line breaks of a PEM',
      `[\n  {"key": "-----BEGIN PUBLIC KEY-----\n${MARKER}"}\n]`,
      'line 2, column 38: a line break inside a string: JSON writes it as \\n, as those of a PEM',
    ],
    [
      'those of Windows',
      '["a\r\nb"]',
      'line 1, column 4: a line break inside a string: JSON writes it as \\n, as those of a PEM',
    ],
    [
      'lines that end as on Windows before it',
      '[\r\n1,\r\nx]',
      'line 3, column 1: a word that is no value of JSON: a text needs quotation marks',
    ],
    ['a tab', '["a\tb"]', 'line 1, column 4: a tab inside a string: JSON writes it as \\t'],
    ['a control character', '["a\u0001b"]', 'line 1, column 4: a control character inside a string'],
    ['an unknown escape', '["C:\\keys"]', 'line 1, column 5: a backslash that begins no escape of JSON'],
    ['half an escape', '["\\u12"]', 'line 1, column 3: a backslash that begins no escape of JSON'],
    ['a string without end', `[1,\n "${MARKER}]`, 'line 2, column 2: a string that begins here has no end'],
    ['a comma too many in a list', '[1,\n2,\n]', 'line 2, column 2: a comma before the end of a list'],
    ['a comma too many in an object', '{"a":1 , }', 'line 1, column 8: a comma before the end of an object'],
    ['two commas', '[1,,2]', 'line 1, column 4: a value is missing before this'],
    ['a comma first', '[,1]', 'line 1, column 2: a value is missing before this'],
    ['a missing comma', '[{"a":1}\n{"b":2}]', 'line 2, column 1: a comma or ] is missing before this'],
    [
      'a missing comma in an object',
      '{"a":1 "b":2}',
      'line 1, column 8: a comma or } is missing before this',
    ],
    [
      'a quotation mark inside a text',
      `{"a":"${MARKER}"x"}`,
      'line 1, column 19: a comma or } is missing before this',
    ],
    ['a missing colon', '{"a" 1}', 'line 1, column 6: a colon is missing before this'],
    ['a missing value', '{"a":}', 'line 1, column 6: a value is missing before this'],
    [
      'single quotation marks',
      `['${MARKER}']`,
      'line 1, column 2: a single quotation mark: JSON has double ones only',
    ],
    [
      'a name in single ones',
      "{'a':1}",
      'line 1, column 2: a single quotation mark: JSON has double ones only',
    ],
    [
      'typographic ones',
      '[\u201ca\u201d]',
      'line 1, column 2: a typographic quotation mark: JSON has straight ones only',
    ],
    [
      'a name without any',
      '{a:1}',
      'line 1, column 2: the name of a member, in double quotation marks, is missing',
    ],
    [
      'a text without any',
      `[${MARKER}]`,
      'line 1, column 2: a word that is no value of JSON: a text needs quotation marks',
    ],
    [
      'a word of another language',
      '[True]',
      'line 1, column 2: a word that is no value of JSON: a text needs quotation marks',
    ],
    ['a comment', '[1, // one\n2]', 'line 1, column 5: a comment: JSON has none'],
    ['a comment first', '# keys\n[]', 'line 1, column 1: a comment: JSON has none'],
    ['a comment behind', '[] /* all */', 'line 1, column 4: a comment: JSON has none'],
    ['a backslash outside', '[{\\"a\\":1}]', 'line 1, column 3: a backslash outside a string'],
    ['a number that is none', '[01]', 'line 1, column 3: a comma or ] is missing before this'],
    ['a sign that is none', '[+1]', 'line 1, column 2: no value of JSON begins so'],
    ['an early end', '[{"a":1}', 'line 1, column 9: the text ends too early: a list is not closed'],
    ['an early end in an object', '{"a":', 'line 1, column 6: the text ends too early'],
    ['an early end after a comma', '[1,', 'line 1, column 4: the text ends too early'],
    ['an early end before a name', '{', 'line 1, column 2: the text ends too early'],
    ['something behind', '[]\n[]', 'line 2, column 1: something follows the end'],
    ['a member twice', `{"a":1,\n "\\u0061":"${MARKER}"}`, 'line 2, column 2: a member is given twice'],
    ['too many levels', '['.repeat(5_000), 'line 1, column 65: it is nested too deeply'],
  ])('reports %s', (_, text, fault) => {
    expect(() => parseStrictJson(text)).toThrow(JsonError);
    expect(jsonFault(text)).toBe(fault);
    expect(fault).not.toContain(MARKER);
  });

  it('is none where there is none', () => {
    const text = ' {"a" : [1, -2.5e+3, true, false, null, "\\u00e9\\n\\/é", {}, []], "b":{"a":1}} \r\n\t';
    expect(jsonFault(text)).toBeUndefined();
  });

  it('is found in all that JSON.parse refuses, and in nothing that it takes', () => {
    const random = randomFrom(83);
    const texts = Array.from({ length: 5_000 }, () =>
      Array.from({ length: 1 + random.below(10) }, () =>
        random.pick([...'{}[],:"\'\\ \n/1a0-.e', 'true', '"b"', '"c":']),
      ).join(''),
    );
    const faulty = texts.filter((text) => !isTaken(text));
    expect(faulty.length).toBeGreaterThan(1_000);
    expect(faulty.length).toBeLessThan(texts.length);
    for (const text of texts) expect([text, jsonFault(text) === undefined]).toEqual([text, isTaken(text)]);
  });

  function isTaken(text: string): boolean {
    try {
      parseStrictJson(text);
      return true;
    } catch {
      return false;
    }
  }
});

describe('[D83] what a person is reported', () => {
  it('is the answer of the parser, with the place', () => {
    expect(explainJsonError(new JsonError('not valid JSON'), '[1,]')).toBe(
      'not valid JSON: line 1, column 3: a comma before the end of a list',
    );
  });

  it('is that alone where the text has no fault of its own', () => {
    expect(explainJsonError(new JsonError('more than 1 values and members'), '[1]')).toBe(
      'more than 1 values and members',
    );
  });
});
