// The packages as a release has them: of one version, packed, and checked by the tools of their users.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';

const PATIENCE_MS = 180_000;
const script = (name: string) => join(REPOSITORY, 'scripts', name);
const versionOf = (path: string) => (JSON.parse(repositoryFile(path).text) as { version: string }).version;

describe('npm run release:pack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it(
    'packs both packages, in the version of the service',
    () => {
      const { status, stderr } = spawnSync(process.execPath, [script('release-pack.mjs'), '--out', folder], {
        cwd: REPOSITORY,
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, expect.not.stringContaining('refused')]);
      const version = versionOf('package.json');
      const names = ['embed', 'nestjs', 'partner'].map(
        (name) => `embedded-token-exchange-${name}-${version}.tgz`,
      );
      expect(readdirSync(folder).sort()).toEqual(names);
      for (const name of names) {
        const list = execFileSync('tar', ['-tzf', join(folder, name)], { encoding: 'utf8' }).split('\n');
        expect(list).toEqual(expect.arrayContaining(['package/LICENSE', 'package/README.md']));
        expect(list.filter((path) => /\/\.|node_modules|\.spec\.|\.(pem|key|log)$/.test(path))).toEqual([]);
      }
    },
    PATIENCE_MS,
  );

  it('refuses what publint finds, and a package without types', () => {
    const source = join(folder, 'bad');
    mkdirSync(source);
    const manifest = { name: 'bad', version: '1.0.0', type: 'module', exports: './gone.js' };
    writeFileSync(join(source, 'package.json'), JSON.stringify(manifest));
    execFileSync('npm', ['pack', source, '--pack-destination', source, '--offline'], { stdio: 'ignore' });
    const program = `import { packageProblems } from ${JSON.stringify(script('package-checks.mjs'))};
      console.log(JSON.stringify(await packageProblems(${JSON.stringify(join(source, 'bad-1.0.0.tgz'))})))`;
    const problems = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: REPOSITORY,
      encoding: 'utf8',
    });
    expect(JSON.parse(problems)).toEqual([
      expect.stringMatching(/^publint: .*gone\.js/),
      'are-the-types-wrong: it has no types',
    ]);
  });
});
