// How long an HTTP answer says that it is fresh.
import { maxAgeSeconds } from '../../../../../src/token-exchange/trust/jwks/jwks-fetcher.js';

it.each([
  ['max-age=600', 600],
  ['  public,  Max-Age=0600  ,,', 600],
  ['s-maxage=900, max-age=600, no-store', 600],
  ['max-age=60', 60],
  ['max-age=59', 60],
  ['max-age=0', 60],
  ['max-age=86401', 86_400],
  [`max-age=${'9'.repeat(400)}`, 86_400],
])('[D34] max-age is read from %.40s, and limited to 60 to 86400', (field, seconds) =>
  expect(maxAgeSeconds(field)).toBe(seconds),
);

it.each([
  ...[undefined, '', 'no-cache', 's-maxage=600', 'x-max-age=600', 'max-age', 'max-age=', 'max-age="600"'],
  ...['max-age=-1', 'max-age=600.5', 'max-age=6e2', 'max-age=٦٠٠', 'max-age=600;x', 'max-age 600'],
  ...['max-age=600=600'],
])('[D34] max-age is ignored in %p', (field) => expect(maxAgeSeconds(field)).toBeUndefined());
