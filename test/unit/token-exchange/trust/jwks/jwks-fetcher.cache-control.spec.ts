// How long an HTTP answer says that it is fresh.
import { maxAgeSeconds } from '../../../../../src/token-exchange/trust/jwks/jwks-fetcher.js';

describe('max-age', () => {
  it.each([
    ['max-age=600', 600],
    ['public, max-age=600, must-revalidate', 600],
    ['Max-Age=600', 600],
    ['  max-age=600  ,,', 600],
    ['max-age=0600', 600],
    ['s-maxage=900, max-age=600', 600],
    ['no-store, max-age=600', 600],
    ['private="max-age=5, x", max-age=600', 600],
    [String.raw`ext="a\", max-age=5", max-age=600`, 600],
    ['max-age=600, ext="never closed, max-age=5', 600],
  ])('[D34] is read from %s', (field, seconds) => expect(maxAgeSeconds(field)).toBe(seconds));

  it.each([
    ['max-age=60', 60],
    ['max-age=59', 60],
    ['max-age=0', 60],
    ['max-age=86400', 86_400],
    ['max-age=86401', 86_400],
    [`max-age=${'9'.repeat(400)}`, 86_400],
  ])('[D34] is held within 60 and 86400: %.20s', (field, seconds) =>
    expect(maxAgeSeconds(field)).toBe(seconds),
  );

  it.each([
    undefined,
    '',
    'no-cache',
    's-maxage=600',
    'x-max-age=600',
    'max-age',
    'max-age=',
    'max-age="600"',
    'max-age=-1',
    'max-age=+600',
    'max-age=600.5',
    'max-age=6e2',
    'max-age=0x60',
    'max-age=٦٠٠',
    'max-age=600;x',
    'max-age 600',
    'max-age=600, max-age=600',
    'max-age=600, Max-Age=60',
    'max-age=600, max-age',
    'ext="max-age=600"',
    'ext="a, max-age=600, b"',
    'ext="never closed, max-age=600',
    'ext="ends in a backslash, max-age=600\\',
  ])('[D34] does not count in %p', (field) => expect(maxAgeSeconds(field)).toBeUndefined());

  it('[D34] is found in no more time than the length of the field asks for', () => {
    const startedAt = performance.now();
    expect(maxAgeSeconds(String.raw`"\"`.repeat(20_000))).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(200);
  });
});
