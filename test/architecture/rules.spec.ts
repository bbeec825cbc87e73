// Holds the rules of the code, which docs/internals/rules.md lists, against the contract, the decisions and the titles of the tests.
import { rulesOfCode, taggedRules } from '../../scripts/docs/rules.js';
import { filesOf } from '../support/scopes.cjs';
import { repositoryFile, typescriptFiles } from '../support/source-files.js';
import { contractIds, disagreements, titledRules } from './support/rule-list.js';

describe('the rules', () => {
  const rules = rulesOfCode();
  const ids = rules.flatMap((rule) => rule.ids);

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
    const specs = typescriptFiles('test').filter(({ path }) => path.endsWith('.spec.ts'));
    // This file's own titles are made up.
    const titles = titledRules(specs.filter(({ path }) => !path.endsWith('rules.spec.ts')));
    expect(disagreements(rules, titles)).toEqual([]);
    const main = new Set(filesOf('main').map((path) => `test/${path}`));
    const inMain = titles.filter(({ place }) => main.has(place.replace(/:\d+$/, '')));
    expect(disagreements(rules, inMain)).toEqual([]);
  });
});

describe('the reading of tags', () => {
  it('takes ids, the first sentence behind them, and the file', () => {
    const text = [
      '/** @rule 5.2.5 = 8.14 A jti is accepted',
      ' * once. See replay/ for how.',
      ' * @rule P.flows Of v1.2 only. */',
      'code();',
      '// @rule D2 Everywhere.',
    ].join('\n');
    expect(taggedRules({ path: 'src/a.ts', text })).toEqual([
      { ids: ['5.2.5', '8.14'], text: 'A jti is accepted once.', path: 'src/a.ts' },
      { ids: ['P.flows'], text: 'Of v1.2 only.', path: 'src/a.ts' },
      { ids: ['D2'], text: 'Everywhere.', path: 'src/a.ts' },
    ]);
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
  const rule = { ids: ['5.2.5', '8.14'] as const, text: 'Once.', path: 'src/a.ts' };

  it('is content with a title, under any id of the rule', () => {
    expect(disagreements([rule], [{ id: '8.14', place: 'a.spec.ts:1' }])).toEqual([]);
  });

  it('reports a rule without a title, and a title without a rule', () => {
    expect(disagreements([rule], [{ id: 'D36', place: 'a.spec.ts:1' }])).toEqual([
      '5.2.5: no test title names it',
      'a.spec.ts:1: no code has the rule D36',
    ]);
  });
});
