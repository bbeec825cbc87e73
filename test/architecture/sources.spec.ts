// Files move: unit tests stand where the files stand that they test, and comments name files that are there.
import { basename } from 'node:path';
import { repositoryFiles, typescriptFiles } from '../support/source-files.js';

const COMMENT = /^\s*(?:\*|\/\/|\/\*).*$/gm;
const FILE = /[\w./-]*\w[\w-]*(?:\.[\w-]+)*\.(?:ts|mjs|cjs)\b/g;
const paths = new Set(repositoryFiles().map(({ path }) => path));

it('each unit test has its file: `email.spec.ts`, or `email.domains.spec.ts` of one thing in it', () => {
  const tested = [...paths].flatMap((path) => /^test\/unit\/(.*)\.spec\.ts$/.exec(path)?.[1] ?? []);
  expect(tested).toContain('users/email');
  const isThere = (name: string) => paths.has(`${name.startsWith('demo/') ? name : `src/${name}`}.ts`);
  const strays = tested.filter((name) => !isThere(name) && !isThere(name.replace(/\.[\w-]+$/, '')));
  expect(strays).toEqual([]);
});

it('each file that a comment names is there', () => {
  const names = new Set([...paths].map((path) => basename(path)));
  const isThere = (file: string) =>
    file.includes('/') ? [...paths].some((path) => `/${path}`.endsWith(`/${file}`)) : names.has(file);
  const missing = typescriptFiles('src').flatMap(({ path, text }) =>
    [...text.matchAll(COMMENT)]
      .flatMap(([comment]) => comment.match(FILE) ?? [])
      .filter((file) => !isThere(file))
      .map((file) => `${path}: ${file}`),
  );
  expect(missing).toEqual([]);
});
