// Words of messages for people: what a misspelt name may have meant, and how many there are.
import { closestMatch } from 'leven';

/** Longer ones are no misspelt names. */
const MAX_CHARACTERS = 64;
/** One letter in so many may be wrong, missing or too many. */
const LETTERS_A_SLIP = 4;

/** The nearest known name; undefined where none is near. Case, and what stands between words, make no difference. */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  const letters = lettersOf(name.slice(0, MAX_CHARACTERS + 1));
  if (name.length > MAX_CHARACTERS || letters === '') return undefined;
  const byLetters = new Map([...known].map((one) => [lettersOf(one), one]));
  const maxDistance = Math.max(1, Math.floor(letters.length / LETTERS_A_SLIP));
  const nearest = closestMatch(letters, [...byLetters.keys()], { maxDistance });
  return nearest === undefined ? undefined : byLetters.get(nearest);
}

/** ` (did you mean NAME?)`, or nothing where no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const meant = similarName(name, known);
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]/g, '');
}

/** `1 problem`, `2 problems`. @param many the plural, if it is not regular */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
