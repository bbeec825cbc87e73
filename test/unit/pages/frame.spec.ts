// Places, words, colours and names of the page in the frame.
import { coloursOf, contrast, lookInAddress } from '../../../pages/shared/appearance.js';
import { formatNumber, plainJson, plainName, timeAgo } from '../../../pages/shared/format.js';
import { language, languageOf } from '../../../pages/shared/language.js';
import { EVERYTHING, filtersOf, fits, pathOf, placeOf } from '../../../pages/frame/place.js';
import { words } from '../../../pages/frame/words.js';

afterEach(() => (language.value = 'en'));

describe('a place', () => {
  it.each(['/', '/#workflow=1', '/#search=a+b&state=active&sort=name', '/#workflow=1&search=a'])(
    '%s is the path of what it names',
    (path) => expect(pathOf(placeOf(path))).toBe(path),
  );

  it.each(['', '/nowhere', 'https://other.example/', '/#state=any&sort=any', '//other.example/#', '/#%'])(
    '%j is the whole list',
    (path) => expect(placeOf(path)).toEqual({ workflow: null, list: EVERYTHING }),
  );

  it('takes no longer search than the instance does', () => {
    expect(placeOf(`/#search=${'a'.repeat(200)}`).list.search).toHaveLength(128);
  });

  it('asks the instance for its filters, and knows what fits them', () => {
    const { list } = placeOf('/#search=a&state=inactive');
    expect(filtersOf(list)).toEqual({ search: 'a', active: 'false' });
    expect([fits(list, true), fits(list, false), fits(EVERYTHING, true)]).toEqual([false, true, true]);
  });
});

describe('the language', () => {
  it.each([
    ['de-AT', ['en'], 'de'],
    [undefined, ['fr', 'de'], 'de'],
    ['fr', ['de'], 'en'],
    [undefined, [], 'en'],
  ] as const)('for %j and a browser with %j is %s', (asked, spoken, expected) => {
    expect(languageOf(asked, spoken)).toBe(expected);
  });

  it('has every word, and none left as in the other one', () => {
    const tables = (['en', 'de'] as const).map((code) => {
      language.value = code;
      return words();
    });
    const [english, german] = tables.map((table) => Object.entries(table));
    expect(german?.map(([name]) => name)).toEqual(english?.map(([name]) => name));
    for (const [name, text] of [...(english ?? []), ...(german ?? [])])
      expect([name, String(text).trim()]).not.toEqual([name, '']);
  });

  it('writes numbers and times', () => {
    const hours = () => timeAgo(new Date(0), 3 * 3_600_000);
    expect([formatNumber(1234), hours()]).toEqual(['1,234', '3 hours ago']);
    language.value = 'de';
    expect([formatNumber(1234), hours()]).toEqual(['1.234', 'vor 3 Stunden']);
    expect(timeAgo(new Date(60_000), 0)).toBeUndefined();
  });
});

it('names and JSON turn no text round', () => {
  expect(plainName(' a\u202Eb ')).toBe('ab');
  expect(plainName(7)).toBe('');
  expect(plainJson('a\u202Eb')).toBe('"a\\u202eb"');
});

describe('colours of a host page', () => {
  const grounds = { light: '#ffffff', dark: '#191f29' };

  it.each(['#ffee00', '#000000', '#ffffff', '#c2185b', '#7f7f7f'])('the accent %s is readable', (accent) => {
    const colours = coloursOf(accent);
    for (const [theme, ground] of Object.entries(grounds)) {
      const [own = '', on = ''] = [colours[`--accent-${theme}`], colours[`--on-accent-${theme}`]];
      expect(contrast(own, ground)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(own, on)).toBeGreaterThanOrEqual(4.5);
    }
  });

  it.each(['red', '#fff', 'url(x)', '#2f5bd0;x'])('%s is none', (text) => {
    expect(Object.values(coloursOf(text, text)).filter(Boolean)).toEqual([]);
  });

  it('stand in the address with the rest of the look, and nothing else does', () => {
    expect(lookInAddress('?theme=blue&hideHeader=true&lang=de&other=1')).toEqual({
      theme: undefined,
      accent: undefined,
      lang: 'de',
      hideHeader: true,
      font: undefined,
      background: undefined,
      fullWidth: false,
    });
  });
});
