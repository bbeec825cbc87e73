// The languages of the page in the frame: the choice of one, and its texts and numbers in each.
import { words } from '../../../../pages/frame/words.js';
import { formatNumber, plainJson, plainName, timeAgo } from '../../../../pages/shared/format.js';
import { language, languageOf } from '../../../../pages/shared/language.js';

afterEach(() => (language.value = 'en'));

describe('the language', () => {
  it.each([
    ['de-AT', ['en'], 'de'],
    [undefined, ['fr', 'de'], 'de'],
    ['fr', ['de'], 'en'],
    [undefined, [], 'en'],
  ] as const)('for the option %j and a browser with %j is %s', (asked, spoken, expected) => {
    expect(languageOf(asked, spoken)).toBe(expected);
  });

  it('has a different text in each language for every key', () => {
    const tables = (['en', 'de'] as const).map((code) => {
      language.value = code;
      return words();
    });
    const [english, german] = tables.map((table) => Object.entries(table));
    expect(german?.map(([name]) => name)).toEqual(english?.map(([name]) => name));
    for (const [name, text] of [...(english ?? []), ...(german ?? [])])
      expect([name, String(text).trim()]).not.toEqual([name, '']);
  });

  it('formats numbers and times', () => {
    const hours = () => timeAgo(new Date(0), 3 * 3_600_000);
    expect([formatNumber(1234), hours()]).toEqual(['1,234', '3 hours ago']);
    language.value = 'de';
    expect([formatNumber(1234), hours()]).toEqual(['1.234', 'vor 3 Stunden']);
    expect(timeAgo(new Date(60_000), 0)).toBeUndefined();
  });
});

it('names and JSON cannot change the text direction', () => {
  expect(plainName(' a\u202Eb ')).toBe('ab');
  expect(plainName(7)).toBe('');
  expect(plainJson('a\u202Eb')).toBe('"a\\u202eb"');
});
