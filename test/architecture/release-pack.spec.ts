// A release: its packages, of one version, packed and checked by the tools of their users, and what keeps a commit from being one.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../../src/platform/version.js';
import { describeBuilt } from '../support/built-service.js';
import { tarballName } from '../support/release-files.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';

interface Part {
  readonly name: string;
}

const PATIENCE_MS = 600_000;
const script = (name: string) => join(REPOSITORY, 'scripts', name);
const evaluated = (program: string): unknown =>
  JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: REPOSITORY,
      encoding: 'utf8',
    }),
  );

const DOCUMENTS = {
  'README.md': '',
  'src/token-exchange/README.md': 'nestjs',
  'packages/partner/README.md': 'partner',
  'packages/embed/README.md': 'embed',
  'docs/operator/install.md': '',
};
const UNWANTED = /\/\.|\/node_modules|\.spec\.|\.(pem|key|log|map)$/;
const OF_THE_SERVICE = [
  ...[
    'npm-shrinkwrap.json',
    'CHANGELOG.md',
    'docs/reference/settings.md',
    'examples/quickstart/partner.mjs',
    'examples/partners/python/partner.py',
  ],
  ...['dist/src/start.js', 'dist/src/cli/svc-admin.js', 'dist/src/web/public/embed.js'],
].map((path) => `package/${path}`);

describeBuilt('npm run release:pack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it(
    'packs the service and its packages in one version, with checksums and parts',
    () => {
      const args = [script('release-pack.mjs'), '--rehearsal', '--out', folder];
      const options = { cwd: REPOSITORY, encoding: 'utf8' } as const;
      const { status, stderr } = spawnSync(process.execPath, args, options);
      expect([status, stderr]).toEqual([0, expect.not.stringContaining('Refused')]);
      const packages = ['', 'embed', 'nestjs', 'partner'].map(tarballName);
      const parts = `embedded-token-exchange-${VERSION}.cdx.json`;
      expect(readdirSync(folder).sort()).toEqual(['SHA256SUMS', ...packages, parts].sort());
      execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder });
      const { components } = JSON.parse(readFileSync(join(folder, parts), 'utf8')) as { components: Part[] };
      const names = components.map(({ name }) => name);
      expect([names.includes('fastify'), names.includes('jest')]).toEqual([true, false]);
      for (const name of packages) {
        const list = execFileSync('tar', ['-tzf', join(folder, name)], { encoding: 'utf8' }).split('\n');
        expect(list).toEqual(expect.arrayContaining(['package/LICENSE', 'package/README.md']));
        expect(list.filter((path) => UNWANTED.test(path))).toEqual([]);
        if (name === tarballName()) expect(list).toEqual(expect.arrayContaining(OF_THE_SERVICE));
      }
    },
    PATIENCE_MS,
  );
});

describe('a commit', () => {
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b.example', '-c', 'commit.gpgSign=false'];
    execFileSync('git', [...identity, ...args], { cwd: folder, stdio: 'pipe' });
  };
  const obstacles = () =>
    evaluated(`import { releaseObstacles } from ${JSON.stringify(script('release-obstacles.mjs'))};
      console.log(JSON.stringify(releaseObstacles(${JSON.stringify(folder)}, '0.2.0')))`);
  const commit = (unreleased = '', version = '0.2.0') => {
    const changelog = `# Changelog\n\n## [Unreleased]\n${unreleased}\n## [${version}] - 2031-05-01\n\nMore.\n`;
    writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
    git('add', '.');
    git('commit', '--allow-empty', '-m', 'a');
  };
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'release-commit-'));
    git('init');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('can be a release if changelog and tag match', () => {
    commit();
    expect(obstacles()).toEqual([]);
    git('tag', 'v0.2.0');
    expect(obstacles()).toEqual([]);
  });

  it('cannot be a release with other changes, with another version or after its tag', () => {
    commit();
    git('tag', 'v0.2.0');
    commit('\n- A fault.\n', '0.1.0');
    writeFileSync(join(folder, 'new'), '');
    expect(obstacles()).toEqual([
      'there are changes that are not committed: see git status',
      'package.json has 0.2.0, and the newest release of CHANGELOG.md is 0.1.0',
      'CHANGELOG.md lists as unreleased what would go out with 0.2.0',
      'v0.2.0 is another commit: check that one out',
    ]);
  });
});

it("the documents install this version's files", () => {
  for (const [path, name] of Object.entries(DOCUMENTS))
    expect(repositoryFile(path).text).toContain(tarballName(name));
});

it('this version is the newest release in the changelog', () => {
  expect(/^## \[(\d.*)\] - /m.exec(repositoryFile('CHANGELOG.md').text)?.[1]).toBe(VERSION);
});
