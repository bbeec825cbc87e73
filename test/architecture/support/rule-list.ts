// Reads docs/internals/rules.md, the rules that code and test titles claim, and tells where the three disagree.
import ts from 'typescript';
import type { SourceFile } from '../../support/source-files.js';
import { lineOf, visitNodes } from '../../support/source-files.js';

/** What an id looks like; docs/internals/rules.md explains it. */
const RULE_ID = /(?:[1-9](?:\.\w+)+|D\d+|[BP]\.\w+)/;

const WHOLE_ID = new RegExp(`^${RULE_ID.source}$`);
const FAILURE_ID = /^K\d+$/;
const IDS_CELL = new RegExp(`^\`${RULE_ID.source}\`(?: = \`${RULE_ID.source}\`)*$`);
const STATUS = /^(?:kept|open: \S.*)$/;
const KINDS = ['setting', 'check', 'effect', 'answer', 'event'];
const TABLE_RULER = /^\|[-|]+\|$/;
const TABLE_HEAD = '| Id | Rule | Kind | Status | Where |';
/** A link to a file of src, by its path there, or to one of packages by its whole path; empty for an open rule. */
const WHERE = /^(?:\[(?<shown>\S+)\]\(\.\.\/\.\.\/(?<above>src\/|(?=packages\/))\k<shown>\))?$/;
const MEND = 'run `node scripts/rule-places.mjs`';
const CONTRACT_ID = /`(\d(?:\.\w+)+)`/g;
const HEADING = /^#+ (\d+(?:\.\d+)?) /;
const ITEM = /^(\d+)\. /;
const TAG = /@rule\s+(\S+)/g;
/** Groups in brackets at the beginning of a title, and a word after them. */
const TITLE_IDS = /^((?:\[[^[\]\s]+\])+)\s+\S/;

/** One row of the list. */
export interface Rule {
  /** The rule's name first, then other places that state it. */
  readonly ids: readonly [string, ...string[]];
  readonly text: string;
  readonly kept: boolean;
  /** The file that the list says the rule is kept in. */
  readonly where: string | undefined;
}

/** A place that says that it keeps (code) or shows (test) a rule. */
export interface Claim {
  readonly id: string;
  /** `path:line` */
  readonly place: string;
}

/** The list and what is wrong with the list itself. */
export interface RuleList {
  readonly rules: readonly Rule[];
  readonly problems: readonly string[];
}

/** Reads all tables of the list. */
export function parseRuleList(markdown: string): RuleList {
  const rules: Rule[] = [];
  const problems: string[] = [];
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('|') || line === TABLE_HEAD || TABLE_RULER.test(line)) continue;
    const rule = parseRow(line);
    if (rule === undefined) problems.push(`docs/internals/rules.md:${index + 1}: not a rule: ${line}`);
    else rules.push(rule);
  }
  const ids = rules.flatMap((rule) => rule.ids);
  const repeated = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  problems.push(
    ...[...repeated].map((id) => `docs/internals/rules.md: ${id} stands in the list more than once`),
  );
  return { rules, problems };
}

/** The ids under which the contract can be looked up: its headings, numbered items, and ids in backticks. */
export function contractIds(markdown: string): ReadonlySet<string> {
  const ids = new Set([...markdown.matchAll(CONTRACT_ID)].map((match) => match[1] ?? ''));
  let section = '';
  for (const line of markdown.split('\n')) {
    section = HEADING.exec(line)?.[1] ?? section;
    const item = ITEM.exec(line)?.[1];
    ids.add(item === undefined ? section : `${section}.${item}`);
  }
  return ids;
}

/** The `@rule` tags of source files. */
export function taggedRules(files: readonly SourceFile[]): Claim[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        [...line.matchAll(TAG)].map((match) => ({ id: match[1] ?? '', place: `${path}:${index + 1}` })),
      ),
  );
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

/** Everything in which list, code and tests disagree; nothing where they agree. */
export function disagreements(
  rules: readonly Rule[],
  tags: readonly Claim[],
  titles: readonly Claim[],
): string[] {
  const known = new Set(rules.flatMap((rule) => rule.ids));
  const unknown = [...tags, ...titles].filter(({ id }) => !known.has(id));
  return [
    ...unknown.map(({ id, place }) => `${place}: ${id} is not in docs/internals/rules.md`),
    ...rules.flatMap((rule) =>
      rule.kept ? problemsOfKept(rule, tags, titles) : problemsOfOpen(rule, tags, titles),
    ),
  ];
}

function parseRow(line: string): Rule | undefined {
  const cells = line.split('|').map((cell) => cell.trim());
  if (cells.length !== 7) return undefined;
  const [, ids, text, kind, status, where] = cells as [string, string, string, string, string, string];
  const place = WHERE.exec(where);
  if (!IDS_CELL.test(ids) || text === '' || place === null) return undefined;
  if (!KINDS.includes(kind) || !STATUS.test(status)) return undefined;
  const [name = '', ...others] = ids.split(' = ').map((id) => id.slice(1, -1));
  const { shown: path, above = '' } = place.groups ?? {};
  return { ids: [name, ...others], text, kept: status === 'kept', where: path && `${above}${path}` };
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

function problemsOfKept(rule: Rule, tags: readonly Claim[], titles: readonly Claim[]): string[] {
  const tagged = placesOf(rule, tags);
  const problems: string[] = [];
  if (tagged.length === 0) problems.push('no @rule in src');
  if (tagged.length > 1) problems.push(`more than one @rule: ${tagged.join(', ')}`);
  if (placesOf(rule, titles).length === 0) problems.push('no test title');
  const file = tagged[0]?.replace(/:\d+$/, '');
  if (tagged.length === 1 && file !== rule.where)
    problems.push(`kept in ${file}, not in ${rule.where ?? 'no file'}: ${MEND}`);
  return problems.length === 0 ? [] : [`${nameOf(rule)}: ${problems.join('; ')}`];
}

function problemsOfOpen(rule: Rule, tags: readonly Claim[], titles: readonly Claim[]): string[] {
  const places = [...placesOf(rule, tags), ...placesOf(rule, titles)];
  const claims = places.map(
    (place) => `${place}: ${rule.ids[0]} is open in docs/internals/rules.md, yet claimed here`,
  );
  return rule.where === undefined
    ? claims
    : [...claims, `${nameOf(rule)}: open, yet in ${rule.where}: ${MEND}`];
}

function nameOf({ ids, text }: Rule): string {
  return `${ids.join(' = ')} (${text})`;
}

function placesOf(rule: Rule, claims: readonly Claim[]): string[] {
  return claims.filter(({ id }) => rule.ids.includes(id)).map(({ place }) => place);
}
