// Checks that documents lead somewhere, and that no file names somebody's machine.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY, repositoryFiles, typescriptFiles } from '../support/source-files.js';
import { brokenLinks, relativeLinks, unknownNames } from './support/documentation.js';
import { machineTraces, switchedOffTests } from './support/forbidden.js';

/** Of Spring Security, of a library for Python, of Kubernetes, of Nest. */
const FOREIGN_NAMES = [
  'NimbusJwtClientAuthenticationParametersConverter',
  'PrivateKeyJwt',
  'ServiceAccountTokenJTI',
  'overrideProvider',
];

describe('the repository', () => {
  const files = repositoryFiles();

  it('has no link that leads nowhere', () => {
    const documents = files.filter(({ path }) => path.endsWith('.md'));
    expect(documents.map(({ path }) => path)).toContain('README.md');
    expect(documents.flatMap(relativeLinks).length).toBeGreaterThan(200);
    expect(brokenLinks(documents, (path) => existsSync(join(REPOSITORY, path)))).toEqual([]);
  });

  it('names no code in its documents that is not there', () => {
    // The changelog names what has gone. These tests name what is not there.
    const documents = files.filter(({ path }) => path.endsWith('.md') && path !== 'CHANGELOG.md');
    const sources = files.filter(
      ({ path }) => !path.endsWith('.md') && !path.startsWith('test/architecture/'),
    );
    const isOurs = (found: string) => FOREIGN_NAMES.every((name) => !found.includes(name));
    expect(unknownNames(documents, sources).filter(isOurs)).toEqual([]);
  });

  it('names no path of a machine', () => {
    expect(files.map(({ path }) => path)).toContain('package.json');
    expect(files.flatMap(machineTraces)).toEqual([]);
  });

  it('has no test that runs alone or is switched off without a reason', () => {
    expect(typescriptFiles('test').flatMap(switchedOffTests)).toEqual([]);
  });
});

describe('the reading of links', () => {
  it('resolves relative links from their document and leaves out all others', () => {
    const text = [
      'See [rules](rules.md#how), [code](../src/main.ts "title"), [site](https://site.example/x) and [below',
      'this](#below).',
      '```',
      '[not](a-link.md)',
      '```',
      '![drawing](images/a.svg)',
    ].join('\n');
    expect(relativeLinks({ path: 'docs/a.md', text })).toEqual([
      { path: 'docs/rules.md', anchor: 'how' },
      { path: 'src/main.ts', anchor: '' },
      { path: 'docs/a.md', anchor: 'below' },
      { path: 'docs/images/a.svg', anchor: '' },
    ]);
  });

  it('reports links to files that are not there, and to places that a document does not have', () => {
    const text = '[a](gone.md) [b](b.md#what-isit) [c](b.md#word) [d](b.md#gone) [e](#gone) [f](code.ts#L1)';
    const documents = [
      { path: 'a.md', text },
      { path: 'b.md', text: '## What *is*it?\n\n| <a id="word"></a>`word` |' },
    ];
    expect(brokenLinks(documents, (path) => path !== 'gone.md')).toEqual([
      'a.md: gone.md#',
      'a.md: b.md#gone',
      'a.md: a.md#gone',
    ]);
  });
});

describe('the reading of names of code', () => {
  it('reports names that no source has, and members that the file of their class does not have', () => {
    const sources = [
      { path: 'bus.ts', text: 'export class AuditBus {\n  record(): void {}\n}' },
      { path: 'other.ts', text: 'const tell = new AuditBus(); foreignLibrary.call();' },
    ];
    const text =
      '`AuditBus`, `AuditBus.record([event])`, `AuditBus.tell`, `AuditSink`, `foreignLibrary.call`, `word`';
    expect(unknownNames([{ path: 'a.md', text }], sources)).toEqual([
      'a.md: `AuditBus.tell`',
      'a.md: `AuditSink`',
    ]);
  });
});

describe('the search for what no file may hold', () => {
  // In pieces, so that this file does not hold what it looks for.
  const path = (...parts: string[]) => ['', ...parts].join('/');

  it.each([path('work', 'x'), path('home', 'ada')])('finds %s', (text) => {
    expect(machineTraces({ path: 'a.md', text: `first\n cd ${text}` })).toEqual([`a.md:2: cd ${text}`]);
  });

  it('finds the address of a registry in a lock file only', () => {
    const text = `"${'resolved'}": "https://registry.example/a.tgz"`;
    expect(machineTraces({ path: 'package-lock.json', text })).toEqual([`package-lock.json:1: ${text}`]);
    expect(machineTraces({ path: 'a.ts', text })).toEqual([]);
  });

  it('leaves other paths alone', () => {
    expect(machineTraces({ path: 'a.md', text: '/workflows /rest/auth ./data /tmpfs' })).toEqual([]);
  });

  // A tilde stands for the dot, so that this file does not hold what it looks for.
  const faultsOf = (text: string) => switchedOffTests({ path: 'a.spec.ts', text: text.replaceAll('~', '.') });

  it.each([
    ["describe~only('a', f);", 'runs alone'],
    ["fit ('a', f);", 'runs alone'],
    ["xdescribe ('a', f);", 'is switched off without a reason'],
    ["it~todo('a');", 'is switched off without a reason'],
    ['const run = missing ? it~skip : it;', 'is switched off without a reason'],
    ["it~skip('skipped: ', f);", 'is switched off without a reason'],
  ])('finds %s', (text, fault) => {
    expect(faultsOf(text)).toEqual([`a.spec.ts:1: ${fault}`]);
  });

  it.each(['it~skip(`skipped: ${why}`, f);', "// it~only('a')"])('is content with %s', (text) => {
    expect(faultsOf(text)).toEqual([]);
  });
});
