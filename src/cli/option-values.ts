// Turns the texts of command line options into values, or says which rule they break.
import { InvalidArgumentError } from 'commander';
import { momentOf } from '../platform/text/moment.js';

/** A parser of whole numbers within a range, both ends included. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** A moment of ISO 8601: a date, which begins at midnight UTC, or date and time with their zone. */
export function isoMoment(text: string): Date {
  const moment = momentOf(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError('It must be a date such as 2031-05-01 or 2031-05-01T12:00:00Z.');
}

/** A parser of comma-separated lists of some known words, which are kept once each. */
export function listOf<const T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) => {
    const words = text.split(',').map((word) => word.trim());
    const found = known.filter((word) => words.includes(word));
    if (words.every((word) => known.some((other) => other === word))) return found;
    throw new InvalidArgumentError(`Known are ${known.join(', ')}; several are separated by commas.`);
  };
}

/** Collects `name=json` options. */
export function jsonMember(text: string, earlier: readonly [string, unknown][] = []): [string, unknown][] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=json.');
  try {
    return [...earlier, [text.slice(0, at), JSON.parse(text.slice(at + 1))]];
  } catch {
    throw new InvalidArgumentError('What follows = must be JSON; a text has its quotes: team=\'"sales"\'.');
  }
}
