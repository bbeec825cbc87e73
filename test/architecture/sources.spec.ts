// Files move, and their unit tests move with them.
import { repositoryFiles } from '../support/source-files.js';

const paths = new Set(repositoryFiles().map(({ path }) => path));

it('each unit test has its file: `email.spec.ts`, or `email.domains.spec.ts` of one thing in it', () => {
  const tested = [...paths].flatMap((path) => /^test\/unit\/(.*)\.spec\.ts$/.exec(path)?.[1] ?? []);
  expect(tested).toContain('platform/text/uri');
  const isThere = (name: string) => paths.has(`${/^(demo|pages)\//.test(name) ? name : `src/${name}`}.ts`);
  const strays = tested.filter((name) => !isThere(name) && !isThere(name.replace(/\.[\w-]+$/, '')));
  expect(strays).toEqual([]);
});
