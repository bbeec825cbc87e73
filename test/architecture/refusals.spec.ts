// Checks the catalogue of refusals: its order, and that each sentence of the log leads to a row of docs/refusals.md.
import { REMEDIES, inOwnWords } from '../../src/config/remedies.js';
import {
  REFUSALS_PAGE,
  bearerLine,
  flowRefusalLine,
  noticeLine,
  rejectionLine,
} from '../../src/token-exchange/refusals/refusal-line.js';
import { BEARER_REFUSALS, NOTICES, REQUEST_REFUSALS } from '../../src/token-exchange/refusals/refusals.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/refusals/token-refusals.js';
import { repositoryFile } from '../support/source-files.js';

const wordsOf = <Table extends object>(table: Table) => Object.keys(table) as (keyof Table & string)[];

const LINES = [
  ...wordsOf(TOKEN_REFUSALS).map((word) => rejectionLine('a token exchange', word, {})),
  ...wordsOf(REQUEST_REFUSALS).map((word) => flowRefusalLine('a token exchange', word, {})),
  ...wordsOf(BEARER_REFUSALS).map((word) => bearerLine(word, {})),
  ...wordsOf(NOTICES).map((word) => noticeLine(word, {})),
];

it('[D52] each sentence of the log leads to a row of docs/refusals.md, and each row is led to', () => {
  const anchors = [...repositoryFile(REFUSALS_PAGE).text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(
    ([, id]) => id,
  );
  const targets = LINES.map((line) => /; see docs\/refusals\.md#([\w-]+)$/.exec(line)?.[1]);
  expect(targets).not.toContain(undefined);
  expect(anchors).toEqual(targets);
  expect(new Set(anchors).size).toBe(anchors.length);
});

it('[D78] the reasons of one check stand together, in the order of the checks', () => {
  const checks = Object.values(TOKEN_REFUSALS).map(({ check }) => check);
  const runs = checks.filter((check, index) => check !== checks[index - 1]);
  expect(runs).toEqual([...new Set(checks)]);
});

it('[D78] the instance says by its settings what a host of the package would say in other words', () => {
  expect(JSON.stringify([TOKEN_REFUSALS, REQUEST_REFUSALS, BEARER_REFUSALS, NOTICES])).not.toContain('SVC_');
  const words = [...wordsOf(REQUEST_REFUSALS), ...wordsOf(BEARER_REFUSALS)];
  expect(words).toEqual(expect.arrayContaining(Object.keys(REMEDIES)));
  expect(inOwnWords(REQUEST_REFUSALS)['not_enabled']).toEqual({
    ...REQUEST_REFUSALS.not_enabled,
    remedy: expect.stringContaining('SVC_EMBED_LOGIN_ENABLED'),
  });
});
