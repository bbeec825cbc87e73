// Compares the list of known failures with the titles of the tests that show that they do not happen here.
import { repositoryFile, typescriptFiles } from '../support/source-files.js';
import { failureDisagreements, parseFailureList } from './support/failure-list.js';
import { titledFailures } from './support/rule-list.js';

const LIST = 'docs/internals/known-failures.md';

describe(LIST, () => {
  it('agrees with the titles of the tests: each row has its tests, and each title its row', () => {
    const list = parseFailureList(repositoryFile(LIST));
    const specs = typescriptFiles('test').filter(
      // This file's own titles are made up.
      ({ path }) => path.endsWith('.spec.ts') && !path.endsWith('architecture/known-failures.spec.ts'),
    );
    expect(list).toHaveLength(35);
    expect(failureDisagreements(list, titledFailures(specs))).toEqual([]);
  });
});

describe('the reading', () => {
  it('takes the rows of the table, with the files that each names', () => {
    const text = [
      '| No. | Elsewhere | Here | Tests |',
      '|---|---|---|---|',
      '| K1 | Bad. | Good. | [a](../../test/a.spec.ts), [b](../../test/b.spec.ts) |',
      '| K2 | Bad. | Good, see [a](../../test/a.spec.ts). |',
    ].join('\n');
    expect(parseFailureList({ path: LIST, text })).toEqual([
      { id: 'K1', tests: ['test/a.spec.ts', 'test/b.spec.ts'] },
      { id: 'K2', tests: [] },
    ]);
  });

  it('finds the numbers of failures in titles, beside the ids of rules and alone', () => {
    const text = "it('[5.2.5][K16] once', f);\nit.each([['[K2] a case']])('%s', f);\nit('once [K3]', f);";
    expect(titledFailures([{ path: 'a.spec.ts', text }])).toEqual([
      { id: 'K16', place: 'a.spec.ts:1' },
      { id: 'K2', place: 'a.spec.ts:2' },
    ]);
  });
});

describe('the comparison', () => {
  const list = [{ id: 'K1', tests: ['test/a.spec.ts'] }];
  const title = { id: 'K1', place: 'test/a.spec.ts:3' };

  it('is content with a title in each file that the row names, and in no other', () => {
    expect(failureDisagreements(list, [title, title])).toEqual([]);
  });

  it.each([
    ['a row without a title', list, [], 'K1: no test title'],
    [
      'a title in a file that the row does not name',
      list,
      [title, { id: 'K1', place: 'test/b.spec.ts:1' }],
      'K1: the row does not name test/b.spec.ts',
    ],
    [
      'a file without a title',
      [{ id: 'K1', tests: ['test/a.spec.ts', 'test/b.spec.ts'] }],
      [title],
      'K1: test/b.spec.ts has no title with it',
    ],
    [
      'a title without a row',
      list,
      [title, { id: 'K2', place: 'test/a.spec.ts:4' }],
      'test/a.spec.ts:4: K2 is not in docs/internals/known-failures.md',
    ],
    [
      'a row that stands twice',
      [...list, ...list],
      [title],
      'the rows are not K1 to K2, each once, in order',
    ],
  ])('reports %s', (_, rows, titles, problem) => {
    expect(failureDisagreements(rows, titles)).toEqual([problem]);
  });
});
