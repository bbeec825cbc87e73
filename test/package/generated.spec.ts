// The README, followed in applications that `nest new` generates: of NestJS 11, in CommonJS with Jest, and of NestJS 12, in ES modules with Vitest.
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../demo/free-port.js';
import { releaseFile } from '../support/release-files.js';
import { repositoryFile } from '../support/source-files.js';
import { until } from '../support/until.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { emptyCache, emptyFolder } from './support/installed-package.js';
import { preparedInstallation } from './support/packed-package.js';
import { programsOf } from './support/programs.js';

const GENERATION_MS = 600_000;
const RUN_MS = 180_000;
const START_MS = 150_000;
const README = repositoryFile('src/token-exchange/README.md').text;
const GUIDE = repositoryFile('src/token-exchange/docs/guide.md').text;
/** The guide's, which the application's own tests run. */
const TEST = 'src/orders.controller.spec.ts';
const FILE = /\S+\.tgz/;
const [INSTALL = '', KEY = '', CALLS = ''] = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map(
  ([, block = '']) => block,
);
const [JEST_LINE = ''] = /"transformIgnorePatterns": \[[^\]]*\]/.exec(README) ?? [];

const APPLICATIONS = [
  { nest: '11', isCommonJs: true },
  { nest: '12', isCommonJs: false },
];

const probe = spawnSync('npm', ['view', '@nestjs/cli', 'version'], { timeout: 30_000 });

describe.each(APPLICATIONS)('the README in an application with NestJS $nest', ({ nest, isCommonJs }) => {
  if (probe.status !== 0) return void it.skip('skipped: npm could not fetch what is needed', () => undefined);

  describeOnEmptyDatabase('with a database', (database) => {
    let folder: string;
    let application: string;
    let running: ChildProcess | undefined;

    const shell = (script: string, more: Record<string, string> = {}) => {
      const result = spawnSync('bash', ['-ec', script], {
        cwd: application,
        env: { ...npm, ...more },
        encoding: 'utf8',
      });
      return { status: result.status, output: result.stdout + result.stderr };
    };
    let npm: Record<string, string>;

    beforeAll(() => {
      folder = emptyFolder(`nest-${nest}`);
      application = join(folder, 'app');
      npm = { PATH: process.env['PATH'] ?? '', HOME: folder, NO_COLOR: '1', ...emptyCache(folder) };
      const generate = ['-y', `@nestjs/cli@${nest}`, 'new', 'app', '--skip-install', '--skip-git'];
      const inFolder = { cwd: folder, env: npm, stdio: 'pipe' } as const;
      execFileSync('npx', [...generate, '--package-manager', 'npm'], inFolder);
      const [file = ''] = FILE.exec(INSTALL) ?? [];
      const packed = releaseFile('nestjs') ?? join(preparedInstallation().folder, 'package.tgz');
      cpSync(packed, join(application, file));
      const install = isCommonJs ? withVersions(INSTALL) : INSTALL;
      expect(shell(install)).toMatchObject({ status: 0 });
      const { [TEST]: test = '' } = programsOf(GUIDE);
      for (const [path, text] of Object.entries({ ...programsOf(README), [TEST]: test }))
        writeFileSync(join(application, path), asGenerated(text, isCommonJs));
      expect(shell(KEY)).toMatchObject({ status: 0 });
      if (isCommonJs) for (const path of ['package.json', 'test/jest-e2e.json']) configureJest(path);
    }, GENERATION_MS);
    afterAll(async () => {
      if (running?.pid !== undefined) process.kill(-running.pid);
      rmSync(folder, { recursive: true, force: true });
    });

    const configureJest = (path: string) => {
      const text = readFileSync(join(application, path), 'utf8');
      writeFileSync(
        join(application, path),
        text.replace(/^( *)"testRegex"/m, `$1${JEST_LINE},\n$1"testRegex"`),
      );
    };
    const settings = () => ({ DATABASE_URL: database().url });

    it.each(['npm test', 'npm run test:e2e', 'npm run build'])(
      'allows %s',
      (command) => {
        const { status, output } = shell(command, settings());
        expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
      },
      RUN_MS,
    );

    it(
      'leads to an exchange and to the guarded route',
      async () => {
        const port = String(await freePort());
        const typed = CALLS.replace(/^(export DATABASE_URL)=.*$/m, `$1='${database().url}' PORT=${port}`);
        const [start = '', exchange = '', orders = ''] = typed
          .replaceAll('localhost:3000', `localhost:${port}`)
          .split(/^(?=curl http)/m);
        const inFolder = { cwd: application, env: npm, detached: true };
        running = spawn('bash', ['-ec', `${start}echo it has started\nwait`], inFolder);
        let said = '';
        running.stdout?.on('data', (more) => (said += String(more)));
        await until('it listens', START_MS, () => said.includes('it has started\n'));
        const token = (
          JSON.parse(shell(exchange.replace('curl', 'curl -s')).output) as Record<string, unknown>
        )['access_token'];
        expect(token).toEqual(expect.any(String));
        const { output } = shell(orders.replace('curl', 'curl -s').replace('ACCESS_TOKEN', String(token)));
        expect(orders.trim().split(' # ')[1]).toBe(output);
      },
      RUN_MS,
    );
  });
});

/** Those that the README says go with NestJS 11, in place of the newest. */
function withVersions(install: string): string {
  const [, versions = ''] = /For NestJS 11, install\s`([^`]+)`/.exec(README) ?? [];
  expect(versions).not.toBe('');
  return versions.split(' ').reduce((command, one) => {
    const name = one.slice(0, one.lastIndexOf('@'));
    return command.replace(new RegExp(`(?<= )${name}(?=\\s)`), one);
  }, install);
}

/** As the README says of CommonJS. */
function asGenerated(text: string, isCommonJs: boolean): string {
  return isCommonJs ? text.replace(/(from '\.[^']*)\.js'/g, "$1'") : text;
}
