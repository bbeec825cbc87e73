// Compares the `@rule` tags of the code with the contract, the decisions and the titles of the tests.
import { filesOf } from '../support/scopes.cjs';
import { repositoryFile, typescriptFiles } from '../support/source-files.js';
import { contractIds, disagreements, rulesOf, titledFailures, titledRules } from './support/rule-list.js';

// This file's own titles are made up.
const specs = typescriptFiles('test').filter(
  ({ path }) => path.endsWith('.spec.ts') && !path.endsWith('architecture/rules.spec.ts'),
);

describe('the rules', () => {
  const rules = rulesOf(['src', 'packages/partner/src'].flatMap(typescriptFiles));
  const ids = rules.flat();

  it('are the sentences of the contract about the service, the decisions, and what both refer to, each once', () => {
    const contract = contractIds(repositoryFile('docs/internals/contract.md').text);
    const { text: decisions } = repositoryFile('docs/internals/decisions.md');
    const numbered = [...decisions.matchAll(/^### (D\d+)\. /gm)].map(([, id = '']) => id);
    // Sections 1 and 9 describe the feature and how it is changed; what is a rule in them has a tag all the same.
    const stated = [...contract.items].filter((id) => /^[2-8]/.test(id));
    expect(stated.length).toBeGreaterThan(80);
    expect(numbered.length).toBeGreaterThan(100);
    expect([...stated, ...numbered].filter((id) => !ids.includes(id))).toEqual([]);
    const known = new Set([...contract.items, ...contract.sections, ...numbered]);
    expect(ids.filter((id) => /^[\dD]/.test(id) && !known.has(id))).toEqual([]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('are each shown by a test, those of `npm test` alone too', () => {
    const titles = titledRules(specs);
    expect(disagreements(rules, titles)).toEqual([]);
    const main = new Set(filesOf('main').map((path) => `test/${path}`));
    const inMain = titles.filter(({ place }) => main.has(place.replace(/:\d+$/, '')));
    expect(disagreements(rules, inMain)).toEqual([]);
  });
});

it('the known failures are numbered in order, and each is shown by a test', () => {
  const { text } = repositoryFile('docs/internals/known-failures.md');
  const rows = [...text.matchAll(/^\| (K\d+) \|/gm)].map(([, id = '']) => [id]);
  expect(rows.length).toBeGreaterThan(30);
  expect(rows).toEqual(rows.map((_, index) => [`K${index + 1}`]));
  expect(disagreements(rows, titledFailures(specs))).toEqual([]);
});

describe('the reading of tags', () => {
  it('takes the ids of each tag', () => {
    const text = [
      '/** @rule 5.2.5 = 8.14 A jti is accepted',
      ' * once.',
      ' * @rule P.flows Of v1.2 only. */',
      'code();',
      '// @rule D2 Everywhere.',
    ].join('\n');
    expect(rulesOf([{ path: 'src/a.ts', text }])).toEqual([['5.2.5', '8.14'], ['P.flows'], ['D2']]);
  });
});

describe('the reading of the contract', () => {
  it('finds headings, numbered items and ids in backticks', () => {
    const text = ['## 2 Resources', '### 2.5 User', '1. A link.', '| `2.1.file` | x |', 'no `D5`, no 8.1'];
    const { items, sections } = contractIds(text.join('\n'));
    expect([[...items], [...sections]]).toEqual([
      ['2.1.file', '2.5.1'],
      ['2', '2.5'],
    ]);
  });
});

describe('the reading of titles', () => {
  it('finds ids in titles, in tables of titles, in templates, and in functions of our own, and nowhere else', () => {
    const text = [
      "describe('[4.4.1][D1] identity', () => {",
      "  it.each([['[4.4.role.2] a new user']])('%s', () => undefined);",
      '  onBoth(`[5.2.5] on ${name}`);',
      '});',
      "// it('[5.2.6] once')",
      "expect('[5.2.6]'); it('[embed] once [5.2.6]', f);",
    ].join('\n');
    expect(titledRules([{ path: 'a.spec.ts', text }])).toEqual([
      { id: '4.4.1', place: 'a.spec.ts:1' },
      { id: 'D1', place: 'a.spec.ts:1' },
      { id: '4.4.role.2', place: 'a.spec.ts:2' },
      { id: '5.2.5', place: 'a.spec.ts:3' },
    ]);
  });

  it('finds the numbers of known failures, beside the ids of rules and alone', () => {
    const text = "it('[5.2.5][K16] once', f);\nit.each([['[K2] a case']])('%s', f);\nit('once [K3]', f);";
    expect(titledFailures([{ path: 'a.spec.ts', text }])).toEqual([
      { id: 'K16', place: 'a.spec.ts:1' },
      { id: 'K2', place: 'a.spec.ts:2' },
    ]);
  });
});

describe('the comparison', () => {
  const rule = ['5.2.5', '8.14'];

  it('is content with a title, under any id of the rule', () => {
    expect(disagreements([rule], [{ id: '8.14', place: 'a.spec.ts:1' }])).toEqual([]);
  });

  it('reports a rule without a title, and a title without a rule', () => {
    expect(disagreements([rule], [{ id: 'D36', place: 'a.spec.ts:1' }])).toEqual([
      '5.2.5: no test title names it',
      'a.spec.ts:1: there is no D36',
    ]);
  });
});
