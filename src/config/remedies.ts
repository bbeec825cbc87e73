// What operators of this instance do about refusals of the package, by the names of their settings.
import type { Explanation } from '../token-exchange/instance.js';
import { VARIABLES } from './environment.js';

const { featureFlag, exchangeEnabled, embedLoginEnabled, idAssertionEnabled, baseUrl } = VARIABLES;

/** By the word of the refusal, in place of the package's remedy. */
export const REMEDIES: Readonly<Record<string, string | undefined>> = {
  not_available: `the operator reads \`reason\` at \`GET /healthz/readiness\`, then sets \`${featureFlag.name}\` to true or gets a licence that includes token exchange`,
  not_enabled: `the operator sets \`${exchangeEnabled.name}\`, \`${embedLoginEnabled.name}\` or \`${idAssertionEnabled.name}\` to true, and restarts the service`,
  not_issued_here: `the client exchanges the partner's token first; the operator sets the same \`${baseUrl.name}\` on all instances`,
};

/** Rows of the package, with these remedies. */
export function inOwnWords<Row extends Explanation>(
  rows: Readonly<Record<string, Row>>,
): Readonly<Record<string, Row>> {
  return Object.fromEntries(
    Object.entries(rows).map(([word, row]) => [word, { ...row, remedy: REMEDIES[word] ?? row.remedy }]),
  );
}
