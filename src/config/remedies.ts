// How operators of this instance resolve the package's refusals, with the names of their settings.
import type { Explanation } from '../token-exchange/instance.js';
import { VARIABLES } from './environment.js';

const { featureFlag, exchangeEnabled, embedLoginEnabled, idAssertionEnabled, baseUrl } = VARIABLES;

/** By the code of the refusal; replaces the package's remedy. */
export const REMEDIES: Readonly<Record<string, string | undefined>> = {
  not_available: `read \`reason\` at \`GET /healthz/readiness\`, and set \`${featureFlag.name}=true\` or get a licence`,
  not_enabled: `set \`${exchangeEnabled.name}\`, \`${embedLoginEnabled.name}\` or \`${idAssertionEnabled.name}\` to true, and restart`,
  not_issued_here: `exchange the partner's token first; set the same \`${baseUrl.name}\` on all instances`,
};

/** The package's rows with these remedies. */
export function inOwnWords<Row extends Explanation>(
  rows: Readonly<Record<string, Row>>,
): Readonly<Record<string, Row>> {
  return Object.fromEntries(
    Object.entries(rows).map(([word, row]) => [word, { ...row, remedy: REMEDIES[word] ?? row.remedy }]),
  );
}
