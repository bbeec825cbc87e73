// Normalizes strings to NFC for comparisons.
import { composed } from '../../../../src/platform/text/characters.js';
import { quickestMs } from '../../../support/quickest.js';

/** Normalizing this string would take seconds. */
const LIMIT_MS = 500;

it('[D4] a string is composed up to the longest allowed length', () => {
  expect(composed('u\u0308'.repeat(1_000))).toBe('\u00fc'.repeat(1_000));
});

it('[B.work] a longer string is left unchanged', () => {
  const marks = `a${'\u0345'.repeat(60_000)}${'\u0334'.repeat(60_000)}`;
  expect(quickestMs(LIMIT_MS, () => composed(marks))).toBeLessThan(LIMIT_MS);
  expect(composed(marks) === marks).toBe(true);
});
