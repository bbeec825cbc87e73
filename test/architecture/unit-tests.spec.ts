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

describe('the unit tests', () => {
  const paths = repositoryFiles().map(({ path }) => path);

  it('are found', () => {
    expect(paths).toContain('test/unit/users/email.spec.ts');
  });

  it('stand where the files stand that they test', () => {
    expect(strayUnitTests(paths)).toEqual([]);
  });
});

describe('the check', () => {
  it('is content with tests of files of the service and of the demo', () => {
    const sources = ['src/users/email.ts', 'demo/partner.ts'];
    const tests = [
      'test/unit/users/email.spec.ts',
      'test/unit/users/email.domains.spec.ts',
      'test/unit/demo/partner.spec.ts',
      'test/e2e/audit.spec.ts',
    ];
    expect(strayUnitTests([...sources, ...tests])).toEqual([]);
  });

  it.each(['test/unit/email.spec.ts', 'test/unit/users/name.spec.ts', 'test/unit/demo/email.spec.ts'])(
    'reports %s',
    (path) => {
      expect(strayUnitTests(['src/users/email.ts', path])).toEqual([path]);
    },
  );
});
