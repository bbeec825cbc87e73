// Comments name files, and files move: a name that leads nowhere costs the reader more than none.
import { basename } from 'node:path';
import { repositoryFiles, typescriptFiles } from '../support/source-files.js';

const COMMENT = /^\s*(?:\*|\/\/|\/\*).*$/gm;
const FILE = /[\w./-]*\w[\w-]*(?:\.[\w-]+)*\.(?:ts|mjs|cjs)\b/g;

it('each file that a comment names is there', () => {
  const paths = repositoryFiles().map(({ path }) => `/${path}`);
  const names = new Set(paths.map((path) => basename(path)));
  const isThere = (file: string) =>
    file.includes('/') ? paths.some((path) => path.endsWith(`/${file}`)) : names.has(file);
  const missing = typescriptFiles('src').flatMap(({ path, text }) =>
    [...text.matchAll(COMMENT)]
      .flatMap(([comment]) => comment.match(FILE) ?? [])
      .filter((file) => !isThere(file))
      .map((file) => `${path}: ${file}`),
  );
  expect(missing).toEqual([]);
});
