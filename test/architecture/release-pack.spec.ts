// The release script, tried on a small package: what it packs, what it says of it, and what it refuses.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from './support/sample-release.js';
import { changelog, MANIFEST, SampleRelease } from './support/sample-release.js';

const TARBALL = 'sample-module-0.2.0.tgz';
const isGitThere = spawnSync('git', ['--version']).status === 0;

// Each run starts npm and two checkers.

describe('npm run release:pack', () => {
  if (!isGitThere) {
    it.skip('skipped: there is no git', () => undefined);
    return;
  }
  let sample: SampleRelease;

  beforeEach(() => {
    sample = new SampleRelease();
  });
  afterEach(() => sample.remove());

  const rowsOf = ({ stdout }: Run) => stdout.split('\n').map((line) => line.split(/ +/, 2).join(' '));
  const expectRefused = (run: Run, ...problems: (string | RegExp)[]) => {
    const told = run.stderr
      .split('\n')
      .slice(1, -1)
      .map((line) => line.replace(/^ {2}- /, ''));
    expect(told).toEqual(problems.map((problem) => expect.stringMatching(problem)));
    expect([run.code, run.stdout, run.stderr.split('\n', 1)[0]]).toEqual([1, '', 'Refused:']);
    expect([sample.packed(), sample.leftovers()]).toEqual([[], []]);
  };

  it('packs the commit that releases the version, and says what it has packed', () => {
    const run = sample.commit().pack();
    expect([run.code, run.stderr]).toEqual([0, '']);
    const file = join(sample.folder, 'dist', 'release', TARBALL);
    const content = readFileSync(file);
    expect(rowsOf(run)).toEqual(
      expect.arrayContaining([
        'name sample-module',
        'version 0.2.0',
        `file dist/release/${TARBALL}`,
        `size ${content.length}`,
        `integrity sha512-${createHash('sha512').update(content).digest('base64')}`,
      ]),
    );
    expect(run.stdout).toMatch(/^accepted .*CJSResolvesToESM.*require\(esm\)/m);
    expect(run.stdout).toContain(`npm publish dist/release/${TARBALL} --tag latest --access public\n`);
    expect(sample.leftovers()).toEqual([]);
  });

  it('packs a later commit that has the tag, into the folder that is named, and a beta for its own channel', () => {
    const version = '0.2.0-beta.1';
    sample.write({
      'package.json': { version, license: MANIFEST.license },
      'CHANGELOG.md': changelog({ version }),
      'package/package.json': { ...MANIFEST, version },
      'package/CHANGELOG.md': changelog({ version }),
    });
    const run = sample.commit().commit().tag(`v${version}`).pack('--out', 'made/here');
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toContain(
      `npm publish made/here/sample-module-${version}.tgz --tag beta --access public\n`,
    );
    expect(sample.packed()).toEqual([]);
  });

  it('packs the present state as a rehearsal, which it does not take for a release', () => {
    const unreleased = '\n### Added\n\n- More.\n';
    const run = sample.write({ 'CHANGELOG.md': changelog({ unreleased }) }).pack('--rehearsal');
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(/^publish +no: this is a rehearsal$/m);
    expect(sample.packed()).toEqual([TARBALL]);
  });

  it.each<[string, (one: SampleRelease) => unknown, string]>([
    [
      'changes that are not committed',
      (one) => one.commit().write({ 'README.md': 'New.' }),
      'there are changes that are not committed: README.md',
    ],
    [
      'changes that the changelog lists as unreleased',
      (one) =>
        one.write({ 'CHANGELOG.md': changelog({ unreleased: '\n### Fixed\n\n- A fault.\n' }) }).commit(),
      'CHANGELOG.md lists changes as unreleased that would go out with 0.2.0',
    ],
    [
      'a changelog that has lost its place for what comes next',
      (one) => one.write({ 'CHANGELOG.md': changelog().replace('## [Unreleased]\n', '') }).commit(),
      'CHANGELOG.md has no section [Unreleased] above its releases',
    ],
    [
      'a version that the changelog does not have on top',
      (one) => one.write({ 'CHANGELOG.md': changelog({ version: '0.1.0' }) }).commit(),
      'package.json has version 0.2.0, and the newest release of CHANGELOG.md is 0.1.0',
    ],
    [
      'a version that an earlier commit released',
      (one) => one.commit().commit(),
      'an earlier commit released 0.2.0, without a tag; if this one is the release, tag it v0.2.0',
    ],
    [
      'a version whose tag is elsewhere',
      (one) => one.commit().tag('v0.2.0').commit(),
      'v0.2.0 is another commit (',
    ],
  ])('refuses %s', (_, prepare, problem) => {
    prepare(sample);
    expectRefused(sample.pack(), literally(problem));
  });

  it('refuses a package that lacks texts, has unneeded files, or says another thing than the service', () => {
    sample.write({
      'package/LICENSE': 'Another licence.\n',
      'package/README.md': undefined,
      'package/CHANGELOG.md': changelog({ version: '0.1.0' }),
      'package/lib/.env': 'SECRET=1',
      'package/lib/index.spec.js': 'export {};\n',
      'package/package.json': {
        ...MANIFEST,
        version: '0.3.0',
        license: 'MIT',
        private: true,
        scripts: { postinstall: 'node lib/index.js' },
      },
    });
    expectRefused(
      sample.commit().pack(),
      /^README\.md is missing$/,
      /^lib\/\.env does not belong into it$/,
      /^lib\/index\.spec\.js does not belong into it$/,
      /^LICENSE is not that of the repository$/,
      /^CHANGELOG\.md does not tell of 0\.2\.0$/,
      /^package\.json says that it is private/,
      /^package\.json has version 0\.3\.0, the service 0\.2\.0$/,
      /^package\.json has license MIT, the service Apache-2\.0$/,
      /^package\.json has a script postinstall, which runs at an installation$/,
    );
  });

  it('refuses a package without licence and changelog', () => {
    sample.write({ 'package/LICENSE': undefined, 'package/CHANGELOG.md': undefined });
    const problems = [/^LICENSE is missing$/, /^CHANGELOG\.md is missing$/];
    const run = sample.commit().pack();
    expectRefused(run, ...problems);
  });

  it('refuses imports of packages that it does not ask for, also late ones and those of types', () => {
    sample.write({
      'package/package.json': {
        ...MANIFEST,
        dependencies: { '@scope/there': '^1.0.0' },
        peerDependencies: { peer: '^1.0.0' },
      },
      'package/lib/index.js':
        "import 'node:fs';\nimport '@scope/there/part.js';\nimport 'peer';\nexport const answer = import('late/part');\n",
      'package/lib/index.d.ts':
        "import type { A } from '@scope/typed';\nexport declare const answer: Promise<A>;\n",
    });
    expectRefused(
      sample.commit().pack(),
      /^lib\/index\.d\.ts imports @scope\/typed, which package\.json does not ask for$/,
      /^lib\/index\.js imports late, which package\.json does not ask for$/,
    );
  });

  it('refuses what publint finds, and what are-the-types-wrong finds', () => {
    sample.write({
      'package/package.json': {
        ...MANIFEST,
        repository: { type: 'git', url: 'git://github.com/author/sample.git' },
        exports: {
          '.': { types: './lib/index.d.cts', default: './lib/index.js' },
          './gone': './lib/gone.js',
        },
      },
      'package/lib/index.d.ts': undefined,
      'package/lib/index.d.cts': 'export declare const answer: number;\n',
    });
    const { code, stderr } = sample.commit().pack();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ {2}- publint: .*gone\.js/m);
    // A suggestion, no error.
    expect(stderr).toMatch(/^ {2}- publint: pkg\.repository\.url .*deprecated/m);
    expect(stderr).toMatch(/^ {2}- are-the-types-wrong: FalseCJS /m);
    expect(sample.packed()).toEqual([]);
  });

  it('refuses a package without types', () => {
    sample.write({
      'package/package.json': { ...MANIFEST, exports: './lib/index.js' },
      'package/lib/index.d.ts': undefined,
    });
    expectRefused(sample.commit().pack(), /^are-the-types-wrong: it has no types$/);
  });

  it('refuses a package that cannot be built', () => {
    sample.write({ 'scripts/build-package.mjs': 'console.log("a.ts: error");\nprocess.exitCode = 1;\n' });
    const { code, stdout, stderr } = sample.commit().pack();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('a.ts: error\nRefused:\n  - the package cannot be built\n');
    expect([sample.packed(), sample.leftovers()]).toEqual([[], []]);
  });

  it('reports misuse by its exit code', () => {
    expect(sample.pack('--publish')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: Unknown option '--publish'\n\nUsage: /),
    });
  });
});

const literally = (text: string) => new RegExp(`^${text.replace(/[()[\].]/g, '\\$&')}`);
