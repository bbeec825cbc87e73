// Checks a trusted key entry before it is stored, with a token of its partner.
import { anything, members, optional, storableText } from '../../administration/input.js';
import { listOperation } from '../../administration/operation.js';
import { policyInWords } from '../../token-exchange/plain.js';

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
    const checked = await storedEntries.check(value);
    const { entry, problems, warnings, notes } = checked;
    const policy = entry === undefined ? [] : policyInWords(entry, new Date());
    const flow = entry?.flows?.has('exchange') === false ? 'embed' : 'exchange';
    const explanation =
      token === undefined || entry === undefined ? null : await explain({ flow, token }, [checked]);
    yield [{ problems, warnings, notes, policy, explanation }];
  },
});
