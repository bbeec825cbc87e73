// The rules for operators' passwords.
import { faultOfPassword, normalizePassword } from '../../../../src/administration/accounts/passwords.js';

describe('[D106] a password', () => {
  it.each([
    ['twelve characters', 'abcdefghijkl'],
    ['two hundred', 'x'.repeat(200)],
    ['twelve that take two units each', '😀'.repeat(12)],
    ['spaces, digits or one letter alone', '            '],
  ])('may have %s', (_name, password) => {
    expect(faultOfPassword(password)).toBeUndefined();
  });

  it.each([
    ['eleven characters', 'abcdefghijk', 'must have at least 12 characters'],
    ['eleven that take two units each', '😀'.repeat(11), 'must have at least 12 characters'],
    ['twelve that compose to six', 'e\u0301'.repeat(6), 'must have at least 12 characters'],
    ['two hundred and one', 'x'.repeat(201), 'must have at most 200 characters'],
    ['half a character', `abcdefghijkl\ud800`, 'has characters that are no text'],
  ])('may not have %s', (_name, password, fault) => {
    expect(faultOfPassword(password)).toBe(fault);
  });

  it('is the same in every Unicode composition, but differs by case and width', () => {
    expect(normalizePassword('cafe\u0301')).toBe(normalizePassword('caf\u00e9'));
    expect(normalizePassword('A')).not.toBe(normalizePassword('a'));
    expect(normalizePassword('\uff21')).not.toBe(normalizePassword('A'));
  });
});
