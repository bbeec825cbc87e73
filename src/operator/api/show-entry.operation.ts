// Shows one stored trusted key entry as it was given.
import { readMembers, storableText } from '../../administration/input.js';
import type { ChosenEntry } from '../../administration/entry-change.js';
import type { ListOperation } from '../../administration/operation.js';
import { shownEntry } from '../../token-exchange/instance.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.js';

export interface EntryDefinition {
  /** Public keys only; a URL without its query, which may hold a secret. */
  readonly definition: Readonly<Record<string, unknown>>;
}

export const SHOW_ENTRY: ListOperation<ChosenEntry, EntryDefinition> = {
  name: 'keys show',
  read: (input) => readMembers<ChosenEntry>(input, { name: storableText }),

  async *list({ name }, { storedEntries }) {
    const found = (await storedEntries.list()).find(({ stored }) => stored.name === name);
    if (found === undefined) throw new OperatorRefusal('not_found');
    yield [{ definition: shownEntry(found.stored) }];
  },
};
