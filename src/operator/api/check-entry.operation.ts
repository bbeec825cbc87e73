// Checks a trusted key entry before it is stored, and what would become of a token that its partner has signed.
import { optional, readMembers, storableText } from '../../administration/input.js';
import type { ListOperation } from '../../administration/operation.js';
import { policyInWords } from '../../token-exchange/plain.js';
import type { TokenExplanation } from '../../token-exchange/explain/index.js';

export interface EntryToCheck {
  /** As it would be stored. */
  readonly entry: unknown;
  /** Secret. */
  readonly token?: string;
}

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
export const CHECK_ENTRY: ListOperation<EntryToCheck, CheckedEntry> = {
  name: 'keys try',
  read: (input) =>
    readMembers<EntryToCheck>(input, { entry: (value) => ({ value }), token: optional(storableText) }),

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
