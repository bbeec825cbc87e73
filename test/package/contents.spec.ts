// The contents of the packed package: exported names, files, dependencies, documents, and their version.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { REFUSALS_PAGE } from '../../src/token-exchange/refusals/refusal-line.js';
import { relativeLinks } from '../architecture/support/documentation.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';
import type { Installation, Manifest } from './support/packed-package.js';
import { homeOf, manifestIn, PACKAGE, preparedInstallation } from './support/packed-package.js';
import { LOWEST_OF_11, LOWEST_OF_12 } from './support/peer-versions.js';
import { folderBeside, programsOf, TEST_GLOBALS } from './support/programs.js';

/** The values that each entry exports. */
const VALUES = {
  [PACKAGE]: [
    'AccessTokenService',
    'CurrentUser',
    'RequireScopes',
    'SessionService',
    'TOKEN_EXCHANGE_MIGRATIONS',
    'TokenExchangeAuth',
    'TokenExchangeGuard',
    'TokenExchangeModule',
    'UserDirectory',
    'managerOf',
  ],
  [`${PACKAGE}/advanced`]: [
    'AccessTokenService',
    'AuditTrail',
    'BoundSessionService',
    'DatabaseOutages',
    'ExchangeTelemetry',
    'ProjectDirectory',
    'RevocationService',
    'Revocations',
    'SessionOpener',
    'SessionService',
    'SignOutService',
    'StoredEntryError',
    'StoredEntryService',
    'TemporarilyUnavailableException',
    'TokenExchangeThrottlerStorage',
    'Transaction',
    'UserDirectory',
    'limitWaits',
    'presentedCallOf',
    'readTrustedKeys',
  ],
};
/** A little more than the bundled package has, and far less than an unbundled one would have. */
const MAX_FILES = 256;
const MAX_BYTES = 250_000;
const EXAMPLES = ['examples/own-product', 'examples/with-defaults'];
/** The settings of a project that `nest new` has created. */
const GENERATED = {
  'src/app.controller.ts': 'export class AppController {}',
  'src/app.service.ts': 'export class AppService {}',
};
const COMPILER = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');

let installation: Installation;
let manifest: Manifest;
beforeAll(() => {
  installation = preparedInstallation();
  manifest = manifestIn(homeOf(installation));
});

/** Runs a program in plain Node.js, in the folder where the package is installed. @returns its parsed output */
function evaluated(program: string): unknown {
  const args = ['--input-type=module', '--eval', `import 'reflect-metadata'; ${program}`];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: installation.folder, encoding: 'utf8' }));
}

describe('the entry points', () => {
  const exportsOf = (entry: string) =>
    evaluated(`console.log(JSON.stringify(Object.keys(await import('${entry}')).sort()))`);

  it('export what every host needs from the first, and other documented names from the second', () => {
    expect(exportsOf(PACKAGE)).toEqual(VALUES[PACKAGE]);
    const advanced = `${PACKAGE}/advanced`;
    expect(exportsOf(advanced)).toEqual(VALUES[advanced]);
  });

  it('make other files inaccessible', () => {
    const program = `import('${PACKAGE}/dist/token-exchange/index.js').then(() => console.log('"reached"'), ({ code }) => console.log(JSON.stringify(code)))`;
    expect(evaluated(program)).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  it('export migrations with names that no host has', () => {
    const program = `const { TOKEN_EXCHANGE_MIGRATIONS: all } = await import('${PACKAGE}'); console.log(JSON.stringify(all.map(({ name }) => name)))`;
    const names = evaluated(program) as string[];
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !/^TokenExchange\d{13}$/.test(name))).toEqual([]);
  });
});

describe('the dependencies', () => {
  const imported = () => {
    const folder = join(homeOf(installation), 'dist');
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.[jt]s$/.test(path),
    );
    const specifiers = paths.flatMap((path) =>
      specifiersOf({ text: readFileSync(join(folder, path), 'utf8') }),
    );
    const packages = specifiers
      .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
      .map(packageOf);
    return [...new Set(packages)].filter((name) => !builtinModules.includes(name)).sort();
  };
  const declared = () => ({ ...manifest.dependencies, ...manifest.peerDependencies });

  it('are those imported by the packed files', () => {
    expect(imported().length).toBeGreaterThan(5);
    // Nest requires that the host installs `reflect-metadata` and `rxjs`, so that there is one copy of each.
    const expected = new Set([...imported(), 'reflect-metadata', 'rxjs']);
    expect(Object.keys(declared()).sort()).toEqual([...expected].sort());
  });

  it('of the package have the versions that the repository tests', () => {
    const { dependencies } = manifestIn(REPOSITORY);
    const names = Object.keys(manifest.dependencies);
    expect(manifest.dependencies).toEqual(
      Object.fromEntries(names.map((name) => [name, `^${dependencies[name]}`])),
    );
  });

  it("of the host range from the lowest tested version to the repository's", () => {
    const { dependencies } = manifestIn(REPOSITORY);
    const names = Object.keys(manifest.peerDependencies);
    expect(names).toEqual(Object.keys(LOWEST_OF_11.peers));
    for (const name of names) {
      const lowest = [LOWEST_OF_11, LOWEST_OF_12].map(({ peers }) => peers[name] ?? '');
      const majors = new Set(lowest.map(majorOf));
      const range = [...majors].map((major) => `^${lowest.find((each) => majorOf(each) === major)}`);
      expect({ name, range: manifest.peerDependencies[name] }).toEqual({ name, range: range.join(' || ') });
      expect(majors).toContain(majorOf(dependencies[name]));
    }
  });
});

describe('the files', () => {
  const tarball = () => join(installation.folder, 'package.tgz');
  const packedPaths = () => {
    const list = execFileSync('tar', ['-tzf', tarball()], { encoding: 'utf8' });
    return list.trim().split('\n');
  };

  it('are only a few JavaScript files, types and documents', () => {
    const paths = packedPaths();
    expect(paths).toEqual(
      expect.arrayContaining(
        [
          'LICENSE',
          'README.md',
          'docs/guide.md',
          'docs/reference.md',
          'docs/partner/projects.md',
          'docs/refusals.md',
          'docs/reference/trusted-key-entries.md',
          'package.json',
          'dist/token-exchange/index.js',
          'dist/token-exchange/index.d.ts',
          'dist/token-exchange/advanced.js',
          'dist/token-exchange/advanced.d.ts',
        ].map((path) => `package/${path}`),
      ),
    );
    const known =
      /^package\/(dist\/.*\.(js|d\.ts)|docs\/((partner|reference)\/)?[\w-]+\.md|LICENSE|README\.md|package\.json)$/;
    expect(paths.filter((path) => !known.test(path))).toEqual([]);
    expect(paths.filter((path) => path.endsWith('.js')).length).toBeLessThan(6);
  });

  it(`are at most ${MAX_FILES} and at most ${MAX_BYTES} bytes packed`, () => {
    expect(packedPaths().length).toBeLessThanOrEqual(MAX_FILES);
    expect(statSync(tarball()).size).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('include the complete types of every entry point, for a host that checks them too', () => {
    const folder = folderBeside(installation, {
      'check.ts': `export * from '${PACKAGE}';\nexport * as advanced from '${PACKAGE}/advanced';\n`,
    });
    expect(problemsOf(folder, { skipLibCheck: false }).filter((line) => line.includes(PACKAGE))).toEqual([]);
  });
});

describe('the documents', () => {
  const { text } = repositoryFile('src/token-exchange/docs/guide.md');
  const { text: readme } = repositoryFile('src/token-exchange/README.md');

  it('link only to one another, and contain what log lines and types refer to', () => {
    const home = homeOf(installation);
    const paths = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.md') && !path.includes('node_modules'),
    );
    expect(paths.sort()).toEqual([
      'README.md',
      'docs/guide.md',
      'docs/partner/projects.md',
      'docs/reference.md',
      'docs/reference/trusted-key-entries.md',
      'docs/refusals.md',
    ]);
    const documents = paths.map((path) => ({ path, text: readFileSync(join(home, path), 'utf8') }));
    const links = documents.flatMap((document) => relativeLinks(document));
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter(({ path }) => !existsSync(join(home, path)))).toEqual([]);
    expect(existsSync(join(home, REFUSALS_PAGE))).toBe(true);
  });

  it('contain programs that compile', () => {
    const both = `${readme}\n${text}`;
    const programs = programsOf(both);
    const ofTypeScript = Object.keys(programs).filter((path) => path.endsWith('.ts'));
    expect(ofTypeScript.length).toBe(both.split('```ts').length - 1);
    const files = { ...programs, ...GENERATED, 'src/globals.d.ts': TEST_GLOBALS };
    expect(problemsOf(folderBeside(installation, files))).toEqual([]);
  });
});

describe.each(EXAMPLES)('%s', (example) => {
  const exampleManifest = manifestIn(join(REPOSITORY, example));

  it("has every peer of the package, and no version of the package's own dependencies", () => {
    const root = manifestIn(REPOSITORY);
    const known: Record<string, string> = { ...root.dependencies, ...root.devDependencies };
    const wanted = { ...exampleManifest.dependencies, ...exampleManifest.devDependencies };
    const { [PACKAGE]: tarball, ...others } = wanted;
    expect(tarball).toBe('file:embedded-token-exchange-nestjs.tgz');
    expect(others).toEqual(Object.fromEntries(Object.keys(others).map((name) => [name, known[name]])));
    const given = Object.keys({ ...exampleManifest.dependencies });
    expect(Object.keys(manifest.peerDependencies).filter((name) => !given.includes(name))).toEqual([]);
  });

  it('compiles by its own settings', () => {
    const folder = mkdtempSync(join(tmpdir(), 'example-'));
    cpSync(join(REPOSITORY, example, 'src'), join(folder, 'src'), { recursive: true });
    for (const name of ['package.json', 'tsconfig.json'])
      cpSync(join(REPOSITORY, example, name), join(folder, name));
    symlinkSync(join(installation.folder, 'node_modules'), join(folder, 'node_modules'), 'dir');
    expect(compilerOutput(folder)).toEqual([]);
    expect(existsSync(join(folder, 'dist', 'main.js'))).toBe(true);
  });
});

/** The compiler's messages with the settings of the examples. */
function problemsOf(folder: string, more: Record<string, unknown> = {}): string[] {
  const { compilerOptions } = JSON.parse(
    readFileSync(join(REPOSITORY, 'examples', 'own-product', 'tsconfig.json'), 'utf8'),
  ) as { compilerOptions: Record<string, unknown> };
  const options = { ...compilerOptions, rootDir: '.', noEmit: true, preserveSymlinks: true, ...more };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, exclude: ['node_modules'] }),
  );
  return compilerOutput(folder);
}

function compilerOutput(folder: string): string[] {
  try {
    execFileSync(process.execPath, [COMPILER, '-p', folder], { encoding: 'utf8' });
    return [];
  } catch (error) {
    return (error as { stdout: string }).stdout.trim().split('\n');
  }
}

function specifiersOf({ text }: { text: string }): string[] {
  return ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function majorOf(version = ''): string {
  return version.split('.', 1)[0] ?? '';
}
