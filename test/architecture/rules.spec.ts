// Compares the `@rule` tags of the code with the contract, the decisions and the titles of the tests.
import { filesOf } from '../support/scopes.cjs';
import type { SourceFile } from '../support/source-files.js';
import { repositoryFile, typescriptFiles } from '../support/source-files.js';

/** What an id looks like; test/README.md explains it. */
const RULE_ID = /(?:[1-9](?:\.\w+)+|D\d+|[BP]\.\w+)/;
/** The ids behind `@rule`: the rule's own, and others that the contract states it by. */
const TAG = new RegExp(`@rule\\s+(${RULE_ID.source}(?: = ${RULE_ID.source})*)(?![\\w.])`, 'g');

const WHOLE_ID = new RegExp(`^${RULE_ID.source}$`);
const FAILURE_ID = /^K\d+$/;
const CONTRACT_ID = /`(\d(?:\.\w+)+)`/g;
const HEADING = /^#+ (\d+(?:\.\d+)?) /;
const ITEM = /^(\d+)\. /;
/** Groups in brackets at the beginning of a text, and a word after them. */
const TITLE_IDS = /['"`]((?:\[[^[\]\s]+\])+)\s+\S/g;

/** A title that says that its test shows a rule. */
interface Claim {
  readonly id: string;
  readonly path: string;
}

const specs = typescriptFiles('test').filter(({ path }) => path.endsWith('.spec.ts'));

describe('the rules', () => {
  const rules = rulesOf(['src', 'packages/partner/src'].flatMap(typescriptFiles));
  const ids = rules.flat();

  it('are the sentences of the contract about the service, the decisions, and common references, each once', () => {
    const contract = contractIds(repositoryFile('docs/internals/contract.md').text);
    const { text: decisions } = repositoryFile('docs/internals/decisions.md');
    const numbered = [...decisions.matchAll(/^### (D\d+)\. /gm)].map(([, id = '']) => id);
    // Sections 1 and 9 describe the feature and its changes. Their rules have tags too.
    const stated = [...contract.items].filter((id) => /^[2-8]/.test(id));
    expect(stated.length).toBeGreaterThan(80);
    expect(numbered.length).toBeGreaterThan(50);
    expect([...stated, ...numbered].filter((id) => !ids.includes(id))).toEqual([]);
    const known = new Set([...contract.items, ...contract.sections, ...numbered]);
    expect(ids.filter((id) => /^[\dD]/.test(id) && !known.has(id))).toEqual([]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('are each shown by a test, including those for `npm test` alone', () => {
    const titles = titledIds(WHOLE_ID);
    expect(disagreements(rules, titles)).toEqual([]);
    const main = new Set(filesOf('main').map((path) => `test/${path}`));
    const inMain = titles.filter(({ path }) => main.has(path));
    expect(disagreements(rules, inMain)).toEqual([]);
  });
});

it('the known failures are numbered in order, and each is shown by a test', () => {
  const { text } = repositoryFile('test/known-failures.md');
  const rows = [...text.matchAll(/^\| (K\d+) \|/gm)].map(([, id = '']) => [id]);
  expect(rows.length).toBeGreaterThan(30);
  expect(rows).toEqual(rows.map((_, index) => [`K${index + 1}`]));
  expect(disagreements(rows, titledIds(FAILURE_ID))).toEqual([]);
});

/** The rules that the code has tags for, each by its ids. */
function rulesOf(files: readonly SourceFile[]): string[][] {
  return files.flatMap(({ text }) => [...text.matchAll(TAG)].map(([, ids = '']) => ids.split(' = ')));
}

/** The ids under which the contract can be looked up: its numbered items and ids in backticks, and its headings. */
function contractIds(markdown: string): { items: ReadonlySet<string>; sections: ReadonlySet<string> } {
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

/** The ids in brackets that titles begin with, also in tables and in calls of our own functions. */
function titledIds(form: RegExp): Claim[] {
  return specs.flatMap(({ path, text }) =>
    [...text.matchAll(TITLE_IDS)]
      .flatMap(([, groups = '']) => groups.slice(1, -1).split(']['))
      .filter((id) => form.test(id))
      .map((id) => ({ id, path })),
  );
}

/** Rules or known failures that no title names, and titles that name none of them. */
function disagreements(rules: readonly (readonly string[])[], titles: readonly Claim[]): string[] {
  const known = new Set(rules.flat());
  const shown = new Set(titles.map(({ id }) => id));
  return [
    ...rules
      .filter((ids) => !ids.some((id) => shown.has(id)))
      .map(([name = '']) => `${name}: no test title names it`),
    ...titles.filter(({ id }) => !known.has(id)).map(({ id, path }) => `${path}: there is no ${id}`),
  ];
}
