// Compares the list of rules with the code that keeps them and the tests that show it.
import type { SourceFile } from '../support/source-files.js';
import { repositoryFile, repositoryFiles, typescriptFiles } from '../support/source-files.js';
import { filesOf } from '../support/scopes.cjs';
import { contractIds, disagreements, parseRuleList, taggedRules, titledRules } from './support/rule-list.js';

const isCode = ({ path }: SourceFile) => /^((src|packages)\/.*|ormconfig)\.ts$/.test(path);
const isSpec = ({ path }: SourceFile) => path.endsWith('.spec.ts');

/** The numbers of decisions that came after the first release; those between are not built yet. */
const SINCE = [
  49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82,
  83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 102, 103, 104, 105, 106, 107, 108,
  109, 110, 111, 112, 113, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 130, 131, 132, 133,
  134, 135, 136,
];

describe('docs/internals/rules.md', () => {
  const list = parseRuleList(repositoryFile('docs/internals/rules.md').text);

  it('is well formed, without an id that stands twice', () => {
    expect(list.problems).toEqual([]);
    expect(list.rules.length).toBeGreaterThan(100);
  });

  it('holds each decision once, as docs/internals/decisions.md does', () => {
    const decisions = [...Array.from({ length: 48 }, (_, index) => index + 1), ...SINCE].map(
      (number) => `D${number}`,
    );
    const headings = [...repositoryFile('docs/internals/decisions.md').text.matchAll(/^### (D\d+)\. /gm)].map(
      (match) => match[1],
    );
    const listed = list.rules.flatMap((rule) => rule.ids).filter((id) => id.startsWith('D'));
    expect(headings).toEqual(decisions);
    expect(new Set(listed)).toEqual(new Set(decisions));
  });

  it('points to sentences of docs/internals/contract.md', () => {
    const known = contractIds(repositoryFile('docs/internals/contract.md').text);
    const numbered = list.rules.flatMap((rule) => rule.ids).filter((id) => /^\d/.test(id));
    expect(numbered.filter((id) => !known.has(id))).toEqual([]);
  });

  it('agrees with the tags in src and the titles of the tests, those of `npm test` alone too', () => {
    const tags = taggedRules(repositoryFiles().filter(isCode));
    // This file's own titles are made up.
    const specs = typescriptFiles('test').filter(
      (file) => isSpec(file) && !file.path.endsWith('rules.spec.ts'),
    );
    const titles = titledRules(specs);
    expect(disagreements(list.rules, tags, titles)).toEqual([]);
    const main = new Set(filesOf('main').map((path) => `test/${path}`));
    const inMain = titles.filter(({ place }) => main.has(place.replace(/:\d+$/, '')));
    expect(disagreements(list.rules, tags, inMain)).toEqual([]);
  });
});

describe('the reading of the list', () => {
  const LINK = '[users/a.ts](../../src/users/a.ts)';
  const row = (ids: string, { status = 'kept', kind = 'check', where = LINK } = {}) =>
    `| ${ids} | A rule. | ${kind} | ${status} | ${where} |`;

  it('takes rows with one id, with several, and open ones', () => {
    const markdown = [
      '# Rules',
      '| Id | Rule | Kind | Status | Where |',
      '|---|---|---|---|---|',
      row('`5.2.5`'),
    ];
    markdown.push(row('`4.4.role.1` = `D9`'), row('`P.flows`', { status: 'open: not yet', where: '' }));
    expect(parseRuleList(markdown.join('\n'))).toEqual({
      rules: [
        { ids: ['5.2.5'], text: 'A rule.', kept: true, where: 'src/users/a.ts' },
        { ids: ['4.4.role.1', 'D9'], text: 'A rule.', kept: true, where: 'src/users/a.ts' },
        { ids: ['P.flows'], text: 'A rule.', kept: false, where: undefined },
      ],
      problems: [],
    });
  });

  it.each([
    ['an id without backticks', row('5.2.5')],
    ['an id of no known form', row('`X7`')],
    ['an unknown status', row('`5.2.5`', { status: 'done' })],
    ['an open rule that does not say what is missing', row('`5.2.5`', { status: 'open:' })],
    ['an unknown kind', row('`5.2.5`', { kind: 'thing' })],
    ['a place that is no link', row('`5.2.5`', { where: 'src/users/a.ts' })],
    [
      'a link that leads elsewhere than it says',
      row('`5.2.5`', { where: '[users/a.ts](../../src/users/b.ts)' }),
    ],
    ['a missing cell', '| `5.2.5` | A rule. | check | kept |'],
  ])('reports %s', (_, line) => {
    expect(parseRuleList(line)).toEqual({
      rules: [],
      problems: [`docs/internals/rules.md:1: not a rule: ${line}`],
    });
  });

  it('reports an id that stands twice, under whatever name', () => {
    const { problems } = parseRuleList([row('`5.2.5` = `8.14`'), row('`8.14`')].join('\n'));
    expect(problems).toEqual(['docs/internals/rules.md: 8.14 stands in the list more than once']);
  });
});

describe('the reading of the contract', () => {
  it('finds headings, numbered items and ids in backticks', () => {
    const text = ['## 2 Resources', '### 2.5 User', '1. A link.', '| `2.1.file` | x |', 'no `D5`, no 8.1'];
    expect([...contractIds(text.join('\n'))]).toEqual(['2.1.file', '2', '2.5', '2.5.1']);
  });
});

describe('the reading of tags and titles', () => {
  it('finds each tag with its line', () => {
    const text = ['/** @rule 5.2.5 A jti is accepted once. */', 'code();', '// @rule D2 Everywhere.'].join(
      '\n',
    );
    expect(taggedRules([{ path: 'src/a.ts', text }])).toEqual([
      { id: '5.2.5', place: 'src/a.ts:1' },
      { id: 'D2', place: 'src/a.ts:3' },
    ]);
  });

  it('finds ids in titles, in tables of titles, in templates, and in functions of our own', () => {
    const text = [
      "describe('[4.4.1][D1] identity', () => {",
      "  it.each([['[4.4.role.2] a new user']])('%s', () => undefined);",
      '  onBoth(`[5.2.5] on ${name}`);',
      '});',
    ].join('\n');
    expect(titledRules([{ path: 'a.spec.ts', text }])).toEqual([
      { id: '4.4.1', place: 'a.spec.ts:1' },
      { id: 'D1', place: 'a.spec.ts:1' },
      { id: '4.4.role.2', place: 'a.spec.ts:2' },
      { id: '5.2.5', place: 'a.spec.ts:3' },
    ]);
  });

  it('takes neither comments nor other strings in brackets for titles', () => {
    const text = ["// it('[5.2.5] once')", "it('once [5.2.5]')", "expect('[5.2.5]')", "it('[embed] x')"].join(
      '\n',
    );
    expect(titledRules([{ path: 'a.spec.ts', text }])).toEqual([]);
  });
});

describe('the comparison', () => {
  const { rules } = parseRuleList(
    '| `5.2.5` = `8.14` | Once. | check | kept | [a.ts](../../src/a.ts) |\n| `D36` | Share. | effect | open: alone | |',
  );
  const tag = { id: '5.2.5', place: 'src/a.ts:1' };
  const title = { id: '8.14', place: 'a.spec.ts:1' };

  it('is content with one tag and a title, under any id of the rule', () => {
    expect(disagreements(rules, [tag], [title, title])).toEqual([]);
  });

  it('reports a rule without tag or title', () => {
    expect(disagreements(rules, [], [])).toEqual(['5.2.5 = 8.14 (Once.): no @rule in src; no test title']);
  });

  it('reports a rule that only one of code and tests claims', () => {
    expect(disagreements(rules, [], [title])).toEqual(['5.2.5 = 8.14 (Once.): no @rule in src']);
    expect(disagreements(rules, [tag], [])).toEqual(['5.2.5 = 8.14 (Once.): no test title']);
  });

  it('reports a second tag, also under another id of the rule', () => {
    const second = { id: '8.14', place: 'src/b.ts:2' };
    expect(disagreements(rules, [tag, second], [title])).toEqual([
      '5.2.5 = 8.14 (Once.): more than one @rule: src/a.ts:1, src/b.ts:2',
    ]);
  });

  it('reports a rule that is kept in another file than the list says, and how to mend the list', () => {
    expect(disagreements(rules, [{ id: '8.14', place: 'src/b.ts:2' }], [title])).toEqual([
      '5.2.5 = 8.14 (Once.): kept in src/b.ts, not in src/a.ts: run `node scripts/rule-places.mjs`',
    ]);
  });

  it('reports an open rule for which the list names a file', () => {
    const open = { ids: ['D36'] as const, text: 'Share.', kept: false, where: 'src/a.ts' };
    expect(disagreements([open], [], [])).toEqual([
      'D36 (Share.): open, yet in src/a.ts: run `node scripts/rule-places.mjs`',
    ]);
  });

  it('reports ids that the list does not hold', () => {
    const unknown = [{ id: '5.2.9', place: 'src/c.ts:3' }];
    expect(disagreements(rules, [tag, ...unknown], [title])).toEqual([
      'src/c.ts:3: 5.2.9 is not in docs/internals/rules.md',
    ]);
    expect(disagreements(rules, [tag], [title, ...unknown])).toEqual([
      'src/c.ts:3: 5.2.9 is not in docs/internals/rules.md',
    ]);
  });

  it('reports an open rule that code or a test claims', () => {
    const claim = { id: 'D36', place: 'src/d.ts:4' };
    const problem = 'src/d.ts:4: D36 is open in docs/internals/rules.md, yet claimed here';
    expect(disagreements(rules, [tag, claim], [title])).toEqual([problem]);
    expect(disagreements(rules, [tag], [title, claim])).toEqual([problem]);
  });
});
