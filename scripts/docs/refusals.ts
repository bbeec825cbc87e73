// The tables of docs/refusals.md, and the answers of docs/endpoints.md, from the catalogue of refusals.
import { bearerAnchor } from '../../src/token-exchange/refusals/refusal-line.js';
import type { BearerReason, Explanation } from '../../src/token-exchange/refusals/refusals.js';
import { BEARER_REFUSALS, NOTICES, REQUEST_REFUSALS } from '../../src/token-exchange/refusals/refusals.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/refusals/token-refusals.js';
import { table } from './blocks.js';

const REASON_HEAD = ['Reason', 'Cause', 'Remedy'];

export const REFUSAL_BLOCKS = {
  tokens: () =>
    table(
      ['Reason', 'Check', 'Cause', 'Remedy'],
      Object.entries(TOKEN_REFUSALS).map(([word, { check, cause, remedy }]) => [
        anchored(word),
        check,
        cause,
        remedy,
      ]),
    ),
  requests: () => table(REASON_HEAD, explained(REQUEST_REFUSALS)),
  bearers: () =>
    table(
      REASON_HEAD,
      explained(BEARER_REFUSALS, (word) => bearerAnchor(word as BearerReason)),
    ),
  notices: () => table(REASON_HEAD, explained(NOTICES)),
};

export const EMBED_ANSWERS = { 'refused tokens': embedAnswers };

/** Each answer once: two reasons may share one. */
function embedAnswers(): string {
  const rows = Object.entries(TOKEN_REFUSALS).map(([reason, { embed }]) => {
    const { status, error = reason, message } = embed;
    return [String(status), `\`${error}\``, message];
  });
  const answers = new Map(rows.map((row) => [row.join(), row]));
  return table(['Status', 'CODE', 'TEXT'], [...answers.values()]);
}

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
