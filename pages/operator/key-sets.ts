// Describes the state of an entry's key set, as the end of a sentence.
import type { ItemOf } from './api.js';
import { fromNow, momentInWords } from './words.js';

export type KeySet = NonNullable<ItemOf<'GET /entries'>['keySet']>;

export function keySetInWords({ state, servesUntil, reason }: KeySet): string {
  const until = servesUntil ?? '';
  switch (state) {
    case 'never_held':
      return reason === null
        ? 'was not fetched yet.'
        : `was never fetched, so its tokens are refused: ${reason}.`;
    case 'held':
      return `used until ${momentInWords(until)}, unless it is fetched again.`;
    case 'stale':
      return `cannot be fetched: ${reason}. Its keys are used until ${momentInWords(until)}.`;
    case 'lapsed':
      return `has lapsed ${fromNow(until)}, so its tokens are refused: ${reason}.`;
    case 'no_usable_key':
      return `has no usable key, so its tokens are refused: ${reason}.`;
  }
}
