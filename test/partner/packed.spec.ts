// The packed client: exported names, files, version, documents, and backends with ES modules and with CommonJS.
import { execFile, execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../demo/free-port.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';
import { TestService } from '../support/test-service.js';
import { CLIENT, copyInto, installedClient } from './support/packed-client.js';

const COMPILER = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
const BUILD_MS = 300_000;
const ISSUER = 'https://partner.example';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: object;
}

const manifestOf = (path: string) => JSON.parse(repositoryFile(path).text) as Manifest;

let folder: string;
beforeAll(() => {
  folder = installedClient(['@types/node', 'undici-types']);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  copyInto(folder, 'test/partner/consumer');
  const shared = JSON.parse(repositoryFile('tsconfig.json').text) as { compilerOptions: object };
  const compilerOptions = {
    ...shared.compilerOptions,
    types: ['node'],
    rootDir: '.',
    outDir: 'made',
    skipLibCheck: false,
  };
  const include = ['*.mts', '*.cts'];
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
}, BUILD_MS);
afterAll(() => folder && rmSync(folder, { recursive: true, force: true }));

describe('the client package', () => {
  it('exports what its README documents, and makes nothing else accessible', () => {
    const program = `console.log(JSON.stringify(Object.keys(await import('${CLIENT}')).sort()))`;
    const run = (text: string) =>
      execFileSync(process.execPath, ['--input-type=module', '--eval', text], {
        cwd: folder,
        encoding: 'utf8',
      });
    expect(JSON.parse(run(program))).toEqual(['PartnerError', 'createPartner']);
    expect(run(`import('${CLIENT}/dist/partner.js').catch(({ code }) => console.log(code))`)).toBe(
      'ERR_PACKAGE_PATH_NOT_EXPORTED\n',
    );
  });

  it('contains only compiled sources, types and documents', () => {
    const list = execFileSync('tar', ['-tzf', join(folder, 'client.tgz')], { encoding: 'utf8' });
    const paths = list.trim().split('\n');
    const known = /^package\/(dist\/[a-z-]+\.(js|d\.ts)|CHANGELOG\.md|LICENSE|README\.md|package\.json)$/;
    expect(paths.filter((path) => !known.test(path))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining(
        ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist/index.d.ts', 'dist/index.js'].map(
          (path) => `package/${path}`,
        ),
      ),
    );
  });

  it("depends only on jose, at the repository's version", () => {
    const [root, own] = [manifestOf('package.json'), manifestOf('packages/partner/package.json')];
    expect(own.dependencies).toEqual({ jose: `^${root.dependencies['jose']}` });
    expect(own.peerDependencies).toBeUndefined();
  });

  it('has a README with each option and its default and range, each code and each export', () => {
    const { text } = repositoryFile('packages/partner/README.md');
    const options = repositoryFile('packages/partner/src/options.ts').text;
    const [, members = ''] = /export interface PartnerOptions \{([\s\S]*?)\n\}/.exec(options) ?? [];
    const names = [...members.matchAll(/readonly (\w+)\??:/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
    const ranges = [...options.matchAll(/within\('(\w+)', [\w.]+, \[([\d_]+), ([\d_]+), ([\d_]+)\]\)/g)];
    expect(ranges).toHaveLength(4);
    for (const [, name, min, usual, max] of ranges.map((range) =>
      range.map((part) => part.replaceAll('_', '')),
    )) {
      const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
      expect({ name, row }).toEqual({ name, row: expect.stringContaining(`| ${usual}; ${min} to ${max} |`) });
    }
    const codes = repositoryFile('packages/partner/src/partner-error.ts').text.match(
      /(?<=')[a-z]+(_[a-z]+)*(?=')/g,
    );
    const stable = (codes ?? []).filter((code) => code !== 'cause');
    expect(stable.length).toBeGreaterThan(14);
    expect(stable.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(900);
  });

  it(
    'has a README whose programs compile',
    () => {
      const { text } = repositoryFile('packages/partner/README.md');
      const programs = [...text.matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)```/g)];
      expect(programs.length).toBeGreaterThan(1);
      expect(programs.length).toBe(text.split('```ts').length - 1);
      const place = mkdtempSync(join(tmpdir(), 'client-readme-'));
      symlinkSync(join(folder, 'node_modules'), join(place, 'node_modules'), 'dir');
      mkdirSync(join(place, 'src'));
      writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
      for (const [, path = '', program = ''] of programs) writeFileSync(join(place, 'src', path), program);
      const settings = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8')) as {
        compilerOptions: object;
      };
      const compilerOptions = {
        ...settings.compilerOptions,
        skipLibCheck: true,
        noEmit: true,
        preserveSymlinks: true,
      };
      writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
      execFileSync(process.execPath, [COMPILER, '-p', place], { stdio: ['ignore', 'inherit', 'inherit'] });
    },
    BUILD_MS,
  );
});

describeOnAnyDatabase('backends with the client installed', (database) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const KID = 'consumer';
  let service: TestService;
  let baseUrl: string;

  beforeAll(async () => {
    execFileSync(process.execPath, [COMPILER, '-p', folder], { stdio: ['ignore', 'inherit', 'inherit'] });
    const port = await freePort();
    baseUrl = `http://127.0.0.1:${port}`;
    const entry = {
      type: 'static',
      kid: KID,
      algorithms: ['EdDSA'],
      key: publicKey.export({ type: 'spki', format: 'pem' }),
      issuer: ISSUER,
      expectedAudience: baseUrl,
    };
    const environment = { SVC_PORT: String(port), SVC_BASE_URL: baseUrl };
    service = await TestService.start(database, { trustedKeys: [entry], environment });
  }, BUILD_MS);
  afterAll(() => service?.stop());

  it.each(['modules.mjs', 'commonjs.cjs'])(
    'succeed in an exchange and a login form: %s',
    async (program) => {
      const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const env = { PATH: process.env['PATH'], ISSUER, BASE_URL: baseUrl, KEY, KID };
      const options = { cwd: folder, env, timeout: BUILD_MS };
      const { stdout } = await promisify(execFile)(process.execPath, [join('made', program)], options);
      const { token, login, refusal } = JSON.parse(stdout) as Record<string, string>;
      const headers = { authorization: `Bearer ${token}` };
      expect((await service.fetch('/rest/me', { headers })).status).toBe(200);
      expect((await service.embed({ token: login })).status).toBe(303);
      expect(refusal).toBe('invalid_option');
    },
    BUILD_MS,
  );
});
