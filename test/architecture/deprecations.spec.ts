// Checks that what is deprecated stays as long as docs/internals/versioning.md promises, no longer, and is told of.
import type { Deprecation } from '../../src/config/load-config.js';
import { DEPRECATIONS } from '../../src/config/load-config.js';
import { ENVIRONMENT_VARIABLES } from '../../src/config/environment.js';
import { VERSION } from '../../src/platform/version.js';
import { repositoryFile } from '../support/source-files.js';
import { deprecationProblems } from './support/deprecation-policy.js';

const NOTHING = 'At present nothing is deprecated.';

describe('[9.5] what is deprecated', () => {
  const names = DEPRECATIONS.map(({ name }) => name);

  it('keeps the terms, and is documented', () => {
    const markdown = repositoryFile('docs/configuration.md').text;
    expect(deprecationProblems(DEPRECATIONS, { version: VERSION, markdown })).toEqual([]);
  });

  it('is still read by the service, and stands in the list once', () => {
    const read = new Set(ENVIRONMENT_VARIABLES.flatMap(({ name, alias }) => [name, alias]));
    expect(names.filter((name) => !read.has(name))).toEqual([]);
    expect(names).toEqual([...new Set(names)]);
  });

  it('is none where docs/internals/versioning.md says so', () => {
    expect(repositoryFile('docs/internals/versioning.md').text.includes(NOTHING)).toBe(names.length === 0);
  });
});

describe('the check of deprecations', () => {
  const row: Deprecation = { name: 'SVC_A', since: '0.3.0', removal: '0.4.0', successor: 'SVC_B' };
  const sentence = '`SVC_A` is deprecated since 0.3.0 and goes with 0.4.0';
  const problems = (change: Partial<Deprecation>, version = '0.3.9') =>
    deprecationProblems([{ ...row, ...change }], { version, markdown: `${sentence}: set \`SVC_B\` instead` });

  it('is content with one that goes a minor release later, and says so', () => {
    expect(problems({})).toEqual([]);
    expect(problems({ successor: undefined })).toEqual([]);
  });

  it.each<[string, Partial<Deprecation>, string]>([
    ['in the same release', { removal: '0.3.0' }, 'SVC_A: 0.3.0 is not later than 0.3.0'],
    ['with a patch', { removal: '0.3.1' }, 'SVC_A: 0.3.1 is no minor release'],
    ['with a beta', { removal: '0.4.0-beta.1' }, 'SVC_A: 0.4.0-beta.1 is no minor release'],
    ['with no version', { removal: 'soon' }, 'SVC_A: soon is no minor release'],
  ])('reports one that goes %s', (_, change, problem) => {
    expect(problems(change, '0.2.0')).toContain(problem);
  });

  it('reports one that is overdue', () => {
    expect(problems({}, '0.4.0')).toEqual(['SVC_A: should be gone since 0.4.0']);
  });

  it('reports one that the document is silent about, or that it reports another way', () => {
    expect(problems({ successor: 'SVC_C' })).toEqual([
      `SVC_A: the document does not say "${sentence}: set \`SVC_C\` instead"`,
    ]);
    expect(problems({ removal: '0.5.0' })).toEqual([
      'SVC_A: the document does not say "`SVC_A` is deprecated since 0.3.0 and goes with 0.5.0: set `SVC_B` instead"',
    ]);
  });
});
