// Holds CHANGELOG.md to the form of Keep a Changelog 1.1.0, and its newest release to the version of the package.
import { VERSION } from '../../src/platform/version.js';
import { repositoryFile } from '../support/source-files.js';
import { changelogProblems, releases } from './support/changelog.js';

describe('CHANGELOG.md', () => {
  const { text } = repositoryFile('CHANGELOG.md');

  it('has the form of Keep a Changelog', () => {
    expect(changelogProblems(text)).toEqual([]);
  });

  it('has the version of package.json as its newest release', () => {
    expect(releases(text)[0]?.version).toBe(VERSION);
  });

  it('is that of the npm package too, which has the same version', () => {
    const manifest = JSON.parse(repositoryFile('src/token-exchange/package.json').text) as {
      version: string;
    };
    expect(manifest.version).toBe(VERSION);
  });
});

describe('the check of the form', () => {
  const good = [
    '# Changelog',
    '',
    '## [Unreleased]',
    '',
    '### Added',
    '',
    '- New.',
    '',
    '## [0.10.0] - 2026-12-06',
    '',
    '### Removed',
    '',
    '- Old,',
    '  for good.',
    '',
    '### Security',
    '',
    '- Safe.',
    '',
    '## [0.10.0-beta.2] - 2026-12-02 [YANKED]',
    '',
    '### Fixed',
    '',
    '- Fault.',
    '',
    '## [0.9.1] - 2026-12-02',
    '',
    '### Deprecated',
    '',
    '- Going.',
    '',
  ].join('\n');

  it('is content with all that the form allows', () => {
    expect(changelogProblems(good)).toEqual([]);
    expect(changelogProblems('# Changelog\n\n## [Unreleased]\n')).toEqual([]);
    expect(releases(good).map(({ version }) => version)).toEqual(['0.10.0', '0.10.0-beta.2', '0.9.1']);
  });

  const FORM = 'is not "## [MAJOR.MINOR.PATCH] - YYYY-MM-DD"';
  const KINDS = 'Added, Changed, Deprecated, Removed, Fixed, Security';

  it.each([
    ['another title', '# Changelog', '# Changes', 'the first line is not "# Changelog"'],
    [
      'no section for what is to come',
      '## [Unreleased]\n\n### Added\n\n- New.\n\n',
      '',
      'the first section is not "## [Unreleased]"',
    ],
    ['a release without a date', ' - 2026-12-06', '', `"## [0.10.0]" ${FORM}`],
    ['a version in two parts', '[0.9.1]', '[0.9]', `"## [0.9] - 2026-12-02" ${FORM}`],
    ['a version without brackets', '[0.9.1]', '0.9.1', `"## 0.9.1 - 2026-12-02" ${FORM}`],
    ['a day that is none', '12-02\n', '02-31\n', '"## [0.9.1] - 2026-02-31" has a date that is none'],
    [
      'releases in the wrong order',
      '[0.9.1]',
      '[0.11.0]',
      '0.11.0 stands below 0.10.0-beta.2 and is not older',
    ],
    [
      'a pre-release above its release',
      '[0.9.1]',
      '[0.10.0]',
      '0.10.0 stands below 0.10.0-beta.2 and is not older',
    ],
    [
      'pre-releases in the wrong order',
      '[0.9.1]',
      '[0.10.0-beta.10]',
      '0.10.0-beta.10 stands below 0.10.0-beta.2 and is not older',
    ],
    ['a version twice', '[0.10.0-beta.2]', '[0.10.0]', '0.10.0 stands below 0.10.0 and is not older'],
    ['dates in the wrong order', '12-02\n', '12-03\n', '0.9.1 has a later date than 0.10.0-beta.2'],
    [
      'an unknown kind',
      '### Fixed',
      '### Bugs',
      `## [0.10.0-beta.2] - 2026-12-02 [YANKED]: "Bugs" is not one of ${KINDS}`,
    ],
    ['a kind twice', '### Security', '### Removed', '## [0.10.0] - 2026-12-06: "Removed" stands twice'],
    ['an empty kind', '- New.\n', '', '## [Unreleased]: "Added" is empty'],
    ['a line of no kind', '### Added\n\n', '', '## [Unreleased]: "- New." stands below no kind'],
    [
      'a line above the first kind',
      '### Removed',
      '- More.\n\n### Removed',
      '## [0.10.0] - 2026-12-06: "- More." stands below no kind',
    ],
    [
      'a release that tells nothing',
      '### Deprecated\n\n- Going.\n',
      '',
      '"## [0.9.1] - 2026-12-02" tells nothing',
    ],
  ])('reports %s', (_, from, to, problem) => {
    expect(good).toContain(from);
    expect(changelogProblems(good.replace(from, to))).toEqual([problem]);
  });

  it('reports a section for what is to come that stands further down', () => {
    const [head = '', ...sections] = good.split(/^(?=## )/m);
    expect(changelogProblems(head + sections.reverse().join(''))).toEqual(
      expect.arrayContaining(['the first section is not "## [Unreleased]"', `"## [Unreleased]" ${FORM}`]),
    );
  });
});
