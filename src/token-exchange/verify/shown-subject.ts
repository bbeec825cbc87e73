// What log, trail and explanations show of the `sub` of a job, which is no person's.
import { firstCharacters } from '../../platform/text/characters.js';
import { isEmailAddress } from '../../platform/text/email-address.js';
import { printable, visible } from '../../platform/text/printable.js';
import { MAX_SUBJECT_CHARACTERS } from './external-claims.js';

/** Of the patterns of an entry. */
const MOST_SHOWN = 3;

/** `printable` would take the ids in a `sub` of GitHub for an e-mail address. */
export function shownSubject(sub: string): string {
  const shown = firstCharacters(sub, MAX_SUBJECT_CHARACTERS);
  return shown.split(/[:/,;\s]/).some(isEmailAddress) ? printable(shown) : visible(shown);
}

export function shownPatterns(patterns: ReadonlySet<string>): string {
  const shown = [...patterns].slice(0, MOST_SHOWN).map(shownSubject).join(', ');
  return patterns.size > MOST_SHOWN ? `${shown} and ${patterns.size - MOST_SHOWN} more` : shown;
}
