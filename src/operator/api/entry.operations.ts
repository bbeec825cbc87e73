// Checks a trusted key entry before it is stored, with a token of its partner.
import { anything, members, optional, storableText } from '../../administration/input.js';
import { listOperation } from '../../administration/operation.js';
import { flowsOf, policyInWords } from '../../token-exchange/instance.js';

const readEntry = members({
  /** As it would be stored. */
  entry: anything,
  /** Secret. */
  token: optional(storableText),
});

/** A token is explained by the first that its entry has. */
const FLOWS = ['exchange', 'jwt-bearer', 'id-jag', 'embed'] as const;

/**
 * Says what the tokens of an entry may do, in phrases, and explains one by a flow of the entry. It changes nothing, and fetches
 * nothing: keys of a key set count once they were fetched.
 */
export const CHECK_ENTRY = listOperation('keys try', readEntry, {
  async *list({ entry: value, token }, { storedEntries, explain }) {
    const checked = await storedEntries.check(value);
    const { entry, problems, warnings, notes } = checked;
    const policy = entry === undefined ? [] : policyInWords(entry, new Date());
    const flow = FLOWS.find((one) => entry !== undefined && flowsOf(entry).has(one)) ?? 'exchange';
    const explanation =
      token === undefined || entry === undefined ? null : await explain({ flow, token }, [checked]);
    yield [{ problems, warnings, notes, policy, explanation }];
  },
});
