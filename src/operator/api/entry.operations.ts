// Shows one stored trusted key entry as it was given, and checks one before it is stored, with a token of its partner.
import { readChosenEntry } from '../../administration/entries.operations.js';
import { anything, members, optional, storableText } from '../../administration/input.js';
import { listOperation } from '../../administration/operation.js';
import { shownEntry } from '../../token-exchange/instance.js';
import { policyInWords } from '../../token-exchange/plain.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.js';

/** Shows public keys only, and a URL without its query, which may hold a secret. */
export const SHOW_ENTRY = listOperation('keys show', readChosenEntry, {
  async *list({ name }, { storedEntries }) {
    const found = (await storedEntries.list()).find(({ stored }) => stored.name === name);
    if (found === undefined) throw new OperatorRefusal('not_found');
    yield [{ definition: shownEntry(found.stored) }];
  },
});

const readEntry = members({
  /** As it would be stored. */
  entry: anything,
  /** Secret. */
  token: optional(storableText),
});

/**
 * Says what the tokens of an entry may do, in phrases, and explains one: as a token exchange, or as an embedded login where the entry
 * takes nothing else. It changes nothing, and fetches nothing: keys of a key set count once they were fetched.
 */
export const CHECK_ENTRY = listOperation('keys try', readEntry, {
  async *list({ entry: value, token }, { storedEntries, explain }) {
    const { warnings, notes, ...checked } = await storedEntries.check(value);
    const { entry, problems } = checked;
    const policy = entry === undefined ? [] : policyInWords(entry, new Date());
    const flow = entry?.flows?.has('exchange') === false ? 'embed' : 'exchange';
    const explanation =
      token === undefined || entry === undefined ? null : await explain({ flow, token }, [checked]);
    yield [{ problems, warnings, notes, policy, explanation }];
  },
});
