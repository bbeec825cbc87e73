// Holds the folders of the unit tests against those of the code, so that the tests of a file are found by its path.
import { repositoryFiles } from '../support/source-files.js';

/**
 * Unit tests whose path leads to no file: `test/unit/users/email.spec.ts` is of `src/users/email.ts`, and
 * `email.domains.spec.ts` of one thing in it.
 */
function strayUnitTests(paths: readonly string[]): string[] {
  const known = new Set(paths);
  return paths.filter((path) => {
    const tested = /^test\/unit\/(.*)\.spec\.ts$/.exec(path)?.[1];
    if (tested === undefined) return false;
    const code = tested.startsWith('demo/') ? tested : `src/${tested}`;
    return !known.has(`${code}.ts`) && !known.has(`${code.replace(/\.[\w-]+$/, '')}.ts`);
  });
}

it('unit tests stand where the files stand that they test', () => {
  const paths = repositoryFiles().map(({ path }) => path);
  expect(paths).toContain('test/unit/users/email.spec.ts');
  expect(strayUnitTests([...paths, 'test/unit/email.spec.ts'])).toEqual(['test/unit/email.spec.ts']);
});
