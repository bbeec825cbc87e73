// Parts of messages for people: suggestions for misspelt names, and plurals.
import { closestMatch } from 'leven';

/** Longer strings are not misspelt names. */
const MAX_CHARACTERS = 64;
/** One wrong, missing or additional letter is tolerated per this many letters. */
const LETTERS_A_SLIP = 4;

/** The nearest known name; undefined if none is near. Ignores case and separators. */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  const letters = lettersOf(name.slice(0, MAX_CHARACTERS + 1));
  if (name.length > MAX_CHARACTERS || letters === '') return undefined;
  const byLetters = new Map([...known].map((one) => [lettersOf(one), one]));
  const maxDistance = Math.max(1, Math.floor(letters.length / LETTERS_A_SLIP));
  const nearest = closestMatch(letters, [...byLetters.keys()], { maxDistance });
  return nearest === undefined ? undefined : byLetters.get(nearest);
}

/** ` (did you mean NAME?)`; empty if no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const meant = similarName(name, known);
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]/g, '');
}

/** `1 problem`, `2 problems`. @param many the plural, if it is irregular */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
