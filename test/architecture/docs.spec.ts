// Checks that documents lead somewhere and are as the code is, and that no file names somebody's machine.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withBlock } from '../../scripts/docs/blocks.js';
import { WRITTEN_DOCUMENTS } from '../../scripts/docs/documents.js';
import { REPOSITORY, repositoryFile, repositoryFiles } from '../support/source-files.js';
import { brokenLinks, relativeLinks } from './support/documentation.js';

/** Folders of one person's machine. They are composed, so that this file does not contain the paths that it forbids. */
const MACHINE_FOLDERS = ['work', 'root', 'home'].map((folder) => `/${folder}/`);
const MACHINE_PATH = new RegExp(`${MACHINE_FOLDERS.join('|')}|/${'tmp'}/[a-z]`);

describe('the repository', () => {
  const files = repositoryFiles();

  it('has no broken link', () => {
    const documents = files.filter(({ path }) => path.endsWith('.md'));
    expect(documents.map(({ path }) => path)).toContain('README.md');
    expect(documents.flatMap(relativeLinks).length).toBeGreaterThan(200);
    expect(brokenLinks(documents, (path) => existsSync(join(REPOSITORY, path)))).toEqual([]);
  });

  it('contains no path of a machine', () => {
    expect(files.map(({ path }) => path)).toContain('package.json');
    const traces = files.flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => MACHINE_PATH.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(traces).toEqual([]);
  });

  it.each(WRITTEN_DOCUMENTS)('has $path as `npm run docs` writes it', ({ path, write }) => {
    const { text } = repositoryFile(path);
    expect(text).toBe(write(text));
    expect(text.split('\n').slice(0, 2).join()).toContain('`npm run docs`');
  });
});

it('a page without the generated block is an error', () => {
  expect(() => withBlock('# Page', 'tokens', '')).toThrow('there is no block tokens');
});
