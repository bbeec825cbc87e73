// Checks that documents lead somewhere and are as the code is, and that no file names somebody's machine.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withBlock } from '../../scripts/docs/blocks.js';
import { WRITTEN_DOCUMENTS } from '../../scripts/docs/documents.js';
import { REPOSITORY, repositoryFile, repositoryFiles } from '../support/source-files.js';
import { brokenLinks, relativeLinks, unknownNames } from './support/documentation.js';

/** Of Spring Security, of a library for Python, of Kubernetes, of Nest. */
const FOREIGN_NAMES = [
  'NimbusJwtClientAuthenticationParametersConverter',
  'PrivateKeyJwt',
  'ServiceAccountTokenJTI',
  'overrideProvider',
];

/** Folders of one person's machine. In pieces, so that this file does not hold what it looks for. */
const MACHINE_FOLDERS = ['work', 'root', 'home'].map((folder) => `/${folder}/`);
const MACHINE_PATH = new RegExp(`${MACHINE_FOLDERS.join('|')}|/${'tmp'}/[a-z]`);

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
    const traces = files.flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => MACHINE_PATH.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(traces).toEqual([]);
  });

  it('has been tried with the versions of clients that docs/evidence.md names', () => {
    const { text } = repositoryFile('docs/evidence.md');
    // [name](path) 1.2.3 and 4.5.6
    const named = [...text.matchAll(/\]\((\.\.\/[^)]+)\) (v?\d[\w.]*(?: and v?\d[\w.]*)*)/g)];
    const pairs = named.flatMap(([, path = '', versions = '']) =>
      versions.split(' and ').map((version) => ({ path: join('docs', path), version })),
    );
    expect(pairs.length).toBeGreaterThan(15);
    expect(pairs.filter(({ path, version }) => !repositoryFile(path).text.includes(version))).toEqual([]);
  });

  it.each(WRITTEN_DOCUMENTS)('has $path as `npm run docs` writes it', ({ path, write }) => {
    const { text } = repositoryFile(path);
    expect(text).toBe(write(text));
    expect(text.split('\n').slice(0, 2).join()).toContain('`npm run docs`');
  });
});

it('a page without the block that is to be written is an error', () => {
  expect(() => withBlock('# Page', 'tokens', '')).toThrow('there is no block tokens');
});
