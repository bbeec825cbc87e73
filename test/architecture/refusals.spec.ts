// Holds docs/refusals.md against the table that log and commands read: every word has its row, with an anchor.
import type { Explanation } from '../../src/token-exchange/refusal-explanations.js';
import {
  BEARER_EXPLANATIONS,
  CHECKS,
  FLOW_REFUSAL_EXPLANATIONS,
  NOTICE_EXPLANATIONS,
  REJECTION_EXPLANATIONS,
} from '../../src/token-exchange/refusal-explanations.js';
import {
  REFUSALS_PAGE,
  bearerAnchor,
  bearerLine,
  flowRefusalLine,
  noticeLine,
  rejectionLine,
} from '../../src/token-exchange/refusal-line.js';
import { repositoryFile } from '../support/source-files.js';

type Words<Table> = (keyof Table & string)[];
const wordsOf = <Table extends object>(table: Table) => Object.keys(table) as Words<Table>;

const REJECTIONS = wordsOf(REJECTION_EXPLANATIONS);
const FLOW_REFUSALS = wordsOf(FLOW_REFUSAL_EXPLANATIONS);
const BEARERS = wordsOf(BEARER_EXPLANATIONS);
const NOTICES = wordsOf(NOTICE_EXPLANATIONS);

/** In the order in which a flow makes its checks. */
const inOrder = REJECTIONS.toSorted(
  (one, other) =>
    CHECKS.indexOf(REJECTION_EXPLANATIONS[one].check) - CHECKS.indexOf(REJECTION_EXPLANATIONS[other].check),
);

function row(anchor: string, word: string, { cause, remedy }: Explanation, check?: string): string {
  const cells = [`<a id="${anchor}"></a>\`${word}\``, ...(check === undefined ? [] : [check]), cause, remedy];
  return `| ${cells.join(' | ')} |`;
}

const ROWS = [
  ...inOrder.map((word) => row(word, word, REJECTION_EXPLANATIONS[word], REJECTION_EXPLANATIONS[word].check)),
  ...FLOW_REFUSALS.map((word) => row(word, word, FLOW_REFUSAL_EXPLANATIONS[word])),
  ...BEARERS.map((word) => row(bearerAnchor(word), word, BEARER_EXPLANATIONS[word])),
  ...NOTICES.map((word) => row(word, word, NOTICE_EXPLANATIONS[word])),
];

const LINES = [
  ...REJECTIONS.map((word) => rejectionLine('a token exchange', word, {})),
  ...FLOW_REFUSALS.map((word) => flowRefusalLine('a token exchange', word, {})),
  ...BEARERS.map((word) => bearerLine(word, {})),
  ...NOTICES.map((word) => noticeLine(word, {})),
];

describe('docs/refusals.md', () => {
  const page = repositoryFile(REFUSALS_PAGE).text;
  const rows = page.split('\n').filter((line) => line.startsWith('| <a id='));

  it('[D78] has a row with cause and remedy for each word, in the order of the checks', () => {
    expect(rows).toEqual(ROWS);
  });

  it('[D52] has an anchor for each sentence of the log to lead to', () => {
    const anchors = [...page.matchAll(/<a id="([^"]+)"><\/a>/g)].map((match) => match[1]);
    const targets = LINES.map((line) => /; see docs\/refusals\.md#([\w-]+)$/.exec(line)?.[1]);
    expect(targets).not.toContain(undefined);
    expect(anchors.toSorted()).toEqual(targets.toSorted());
    expect(new Set(anchors).size).toBe(anchors.length);
  });

  it('[D78] gives clauses: neither a capital, nor a full stop, nor anything that breaks a table', () => {
    const clauses = [
      REJECTION_EXPLANATIONS,
      FLOW_REFUSAL_EXPLANATIONS,
      BEARER_EXPLANATIONS,
      NOTICE_EXPLANATIONS,
    ].flatMap((table) => Object.values<Explanation>(table).flatMap(({ cause, remedy }) => [cause, remedy]));
    expect(clauses.filter((clause) => !/^[a-z`"][^|\n]*[^.|\n]$/.test(clause))).toEqual([]);
  });
});
