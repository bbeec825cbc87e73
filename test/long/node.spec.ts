// The tests on each supported major version of Node.js, by the binaries that the registry's package `node` is made of.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { isWholeSeries } from '../support/series.js';

const ROOT = join(__dirname, '..', '..');
const JEST = join('node_modules', 'jest', 'bin', 'jest.js');
/** The maintained majors from the one on that package.json names; docs/reference/tested-platforms.md says what was run on which of them. */
const MAJORS = [20, 22, 24, 26];
const BINARIES = `node-${process.platform}-${process.arch}`;
/** `TEST_FOLDERS="test/e2e test/database"` for others. */
const FOLDERS = (process.env['TEST_FOLDERS'] ?? 'test/unit test/smoke test/e2e').split(' ');
const LIMIT_MS = 3_600_000;

if (!isWholeSeries) {
  it.skip('skipped: fetches Node.js, run it by `npm run test:long -- node`', () => undefined);
} else {
  describe.each(MAJORS)('Node.js %d', (major) => {
    let folder: string;
    let node: string;

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), `svc-test-node-${major}-`));
      const install = ['install', '--no-save', '--prefix', folder, `${BINARIES}@${major}`];
      const { status, stderr } = spawnSync('npm', install, { encoding: 'utf8' });
      if (status !== 0) throw new Error(`Node.js ${major} cannot be fetched: ${stderr}`);
      node = join(folder, 'node_modules', BINARIES, 'bin', 'node');
    }, LIMIT_MS);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it(
      `passes ${FOLDERS.join(', ')}`,
      () => {
        const { TEST_SERIES: _, ...environment } = process.env;
        const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
        const { stdout, stderr } = spawnSync(node, [JEST, ...FOLDERS], {
          ...options,
          // Whatever a test starts by name is of this version too.
          env: { ...environment, PATH: [dirname(node), process.env['PATH']].join(delimiter) },
        });
        const [closingLine] = /^\d+ passed, .*$/m.exec(stdout) ?? ['nothing was run'];
        process.stderr.write(
          `Node.js ${spawnSync(node, ['--version'], options).stdout.trim()}: ${closingLine}\n`,
        );
        if (!/^[1-9]\d* passed, 0 failed/.test(closingLine)) throw new Error(`${closingLine}\n${stderr}`);
      },
      LIMIT_MS,
    );
  });
}
