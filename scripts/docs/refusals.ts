// The tables of docs/refusals.md, from the catalogue of refusals.
import { inOwnWords } from '../../src/config/remedies.js';
import { bearerAnchor } from '../../src/token-exchange/refusals/refusal-line.js';
import type { BearerReason, Explanation } from '../../src/token-exchange/refusals/refusals.js';
import { BEARER_REFUSALS, NOTICES, REQUEST_REFUSALS } from '../../src/token-exchange/refusals/refusals.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/refusals/token-refusals.js';
import { table } from './blocks.js';

const REASON_HEAD = ['Reason', 'Cause', 'Remedy'];

export const REFUSAL_BLOCKS = {
  tokens: () => table(REASON_HEAD, explained(TOKEN_REFUSALS)),
  requests: () => table(REASON_HEAD, explained(inOwnWords(REQUEST_REFUSALS))),
  bearers: () =>
    table(
      REASON_HEAD,
      explained(inOwnWords(BEARER_REFUSALS), (word) => bearerAnchor(word as BearerReason)),
    ),
  notices: () => table(REASON_HEAD, explained(NOTICES)),
};

function explained(refusals: Readonly<Record<string, Explanation>>, anchorOf = (word: string) => word) {
  return Object.entries(refusals).map(([word, { cause, remedy }]) => [
    anchored(word, anchorOf(word)),
    cause,
    remedy,
  ]);
}

function anchored(word: string, anchor = word): string {
  return `<a id="${anchor}"></a>\`${word}\``;
}
