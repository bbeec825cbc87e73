// Reads which codes docs/refusals.md explains.
import { REFUSALS_PAGE } from '../../src/token-exchange/refusals/refusal-line.js';
import { repositoryFile } from './source-files.js';

const { text } = repositoryFile(REFUSALS_PAGE);
const ROWS = [...text.matchAll(/^- (`\w+`(?:, `\w+`)*) \(([^)]+)\): (.+)$/gm)].flatMap(
  ([, codes = '', endpoints = '', reasons = '']) =>
    codes.split(', ').map((code) => ({ code: code.replaceAll('`', ''), endpoints, reasons })),
);

/** The words of the page for the endpoints. */
const MANY: Readonly<Record<string, (endpoint: string) => boolean>> = {
  all: (endpoint) => endpoint !== 'API',
  'all but login': (endpoint) => endpoint !== 'API' && endpoint !== 'login',
};

/** The codes of the list of codes. */
export function codesOnPage(): readonly string[] {
  return ROWS.map(({ code }) => code);
}

/**
 * Whether the page leads from the code of an endpoint to a reason: the code is the reason, or a row of both links to it. A row may also
 * have every reason to which no other row of the endpoint links, and any reason of a call by the scheme Bearer.
 */
export function isOnPage(endpoint: string, code: string, reason: string): boolean {
  if (!text.includes(`<a id="${reason}"></a>`)) return false;
  const ofEndpoint = ROWS.filter(
    ({ endpoints }) => MANY[endpoints]?.(endpoint) ?? endpoints.split(', ').includes(endpoint),
  );
  const linked = ofEndpoint.filter(({ reasons }) => reasons.includes(`(#${reason})`));
  const others = ofEndpoint.filter(({ reasons }) => reasons.includes('every other'));
  const ofBearer = others.filter(({ reasons }) => reasons.includes('any by the scheme Bearer'));
  const codes = [...(linked.length > 0 ? linked : others), ...ofBearer].map((row) => row.code);
  return codes.includes(code) || (linked.length === 0 && code === reason);
}
