// Reads the rules that the contract states and test titles claim, and compares both with those of the code.
import ts from 'typescript';
import type { SourceFile } from '../../support/source-files.js';
import { lineOf, visitNodes } from '../../support/source-files.js';

/** What an id looks like; test/README.md explains it. */
const RULE_ID = /(?:[1-9](?:\.\w+)+|D\d+|[BP]\.\w+)/;
/** The ids behind `@rule`: the rule's own, and others that the contract states it by. */
const TAG = new RegExp(`@rule\\s+(${RULE_ID.source}(?: = ${RULE_ID.source})*)(?![\\w.])`, 'g');

const WHOLE_ID = new RegExp(`^${RULE_ID.source}$`);
const FAILURE_ID = /^K\d+$/;
const CONTRACT_ID = /`(\d(?:\.\w+)+)`/g;
const HEADING = /^#+ (\d+(?:\.\d+)?) /;
const ITEM = /^(\d+)\. /;
/** Groups in brackets at the beginning of a title, and a word after them. */
const TITLE_IDS = /^((?:\[[^[\]\s]+\])+)\s+\S/;

/** A title that says that its test shows a rule. */
export interface Claim {
  readonly id: string;
  /** `path:line` */
  readonly place: string;
}

/** The rules that the code has tags for, each by its ids. */
export function rulesOf(files: readonly SourceFile[]): string[][] {
  return files.flatMap(({ text }) => [...text.matchAll(TAG)].map(([, ids = '']) => ids.split(' = ')));
}

/** The ids under which the contract can be looked up: its numbered items and ids in backticks, and its headings. */
export function contractIds(markdown: string): { items: ReadonlySet<string>; sections: ReadonlySet<string> } {
  const items = new Set([...markdown.matchAll(CONTRACT_ID)].map(([, id = '']) => id));
  const sections = new Set<string>();
  let section = '';
  for (const line of markdown.split('\n')) {
    section = HEADING.exec(line)?.[1] ?? section;
    if (section !== '') sections.add(section);
    const item = ITEM.exec(line)?.[1];
    if (item !== undefined) items.add(`${section}.${item}`);
  }
  return { items, sections };
}

/**
 * The ids that titles begin with: `[5.2.5] …`, `[4.4.1][D1] …`. Every string that begins so is taken for a title,
 * because titles also stand in tables of `it.each` and in calls of our own functions that declare tests.
 */
export function titledRules(files: readonly SourceFile[]): Claim[] {
  return titledIds(files, WHOLE_ID);
}

/** The known failures that titles name beside the rules: `[5.2.5][K16] …`. */
export function titledFailures(files: readonly SourceFile[]): Claim[] {
  return titledIds(files, FAILURE_ID);
}

function titledIds(files: readonly SourceFile[], form: RegExp): Claim[] {
  return files.flatMap((file) => {
    const claims: Claim[] = [];
    visitNodes(file, (node) => {
      if (!ts.isStringLiteralLike(node) && !ts.isTemplateHead(node)) return;
      const place = `${file.path}:${lineOf(node)}`;
      claims.push(...idsOfTitle(node.text, form).map((id) => ({ id, place })));
    });
    return claims;
  });
}

/** Rules or known failures that no title names, and titles that name none of them. */
export function disagreements(rules: readonly (readonly string[])[], titles: readonly Claim[]): string[] {
  const known = new Set(rules.flat());
  const shown = new Set(titles.map(({ id }) => id));
  return [
    ...rules
      .filter((ids) => !ids.some((id) => shown.has(id)))
      .map(([name = '']) => `${name}: no test title names it`),
    ...titles.filter(({ id }) => !known.has(id)).map(({ id, place }) => `${place}: there is no ${id}`),
  ];
}

function idsOfTitle(title: string, form: RegExp): string[] {
  const groups = TITLE_IDS.exec(title)?.[1];
  return groups === undefined
    ? []
    : groups
        .slice(1, -1)
        .split('][')
        .filter((id) => form.test(id));
}
