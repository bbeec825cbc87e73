// Shows one stored trusted key entry as it was given, and checks one before it is stored, with a token of its partner.
import type { ChosenEntry } from '../../administration/entries.operations.js';
import { readChosenEntry } from '../../administration/entries.operations.js';
import { anything, members, optional, storableText } from '../../administration/input.js';
import type { ListOperation } from '../../administration/operation.js';
import type { TokenExplanation } from '../../token-exchange/explain/index.js';
import { shownEntry } from '../../token-exchange/instance.js';
import { policyInWords } from '../../token-exchange/plain.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.js';

export interface EntryDefinition {
  /** Public keys only; a URL without its query, which may hold a secret. */
  readonly definition: Readonly<Record<string, unknown>>;
}

export const SHOW_ENTRY: ListOperation<ChosenEntry, EntryDefinition> = {
  name: 'keys show',
  read: readChosenEntry,

  async *list({ name }, { storedEntries }) {
    const found = (await storedEntries.list()).find(({ stored }) => stored.name === name);
    if (found === undefined) throw new OperatorRefusal('not_found');
    yield [{ definition: shownEntry(found.stored) }];
  },
};

const readEntry = members({
  /** As it would be stored. */
  entry: anything,
  /** Secret. */
  token: optional(storableText),
});

export interface CheckedEntry {
  /** Each begins with the member that it is about. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  /** What its tokens may do, in phrases; empty if it has problems. */
  readonly policy: readonly string[];
  /** As a token exchange, or as an embedded login where the entry takes nothing else; null without a token. */
  readonly explanation: TokenExplanation | null;
}

/** A list of one. It changes nothing, and fetches nothing: keys of a key set count once they were fetched. */
export const CHECK_ENTRY: ListOperation<ReturnType<typeof readEntry>, CheckedEntry> = {
  name: 'keys try',
  read: readEntry,

  async *list({ entry: value, token }, { storedEntries, explain }) {
    const { warnings, notes, ...checked } = await storedEntries.check(value);
    const { entry, problems } = checked;
    const policy = entry === undefined ? [] : policyInWords(entry, new Date());
    const flow = entry?.flows?.has('exchange') === false ? 'embed' : 'exchange';
    const explanation =
      token === undefined || entry === undefined ? null : await explain({ flow, token }, [checked]);
    yield [{ problems, warnings, notes, policy, explanation }];
  },
};
