// Checks that the start of the service loads nothing which only some runs need: it is imported when it is used.
import { posix } from 'node:path';
import { repositoryFiles } from '../support/source-files.js';

/** Each library, and the files that may import it as they are loaded, because they are themselves loaded late. */
const LATE = new Map<string, readonly string[]>([
  ['@nestjs/swagger', []],
  ['class-validator', []],
  ['ajv', []],
  ['ajv-formats', []],
  ['undici', ['src/platform/http/guarded-connector.ts']],
  ['@electric-sql/pglite', []],
]);
/** What every start loads is reached from these: the second is imported while the database is connected to. */
const EARLY = ['src/main.ts', 'src/app.module.ts'];
/** What is loaded only where the configuration asks for it. */
const CHOSEN = /^src\/(operator|administration|cli)\/|^src\/host\/instance-explainer\.ts$|\/explain\//;
/** Each file is found, read and compiled by itself. */
const MOST_FILES = 420;
const VALUE_IMPORT = /^(?:import|export)(?! type\b)[^;]*?from '([^']+)'|^import '([^']+)'/gm;

describe('what the start loads', () => {
  const service = repositoryFiles().filter(({ path }) => /^src\/.*\.ts$/.test(path));
  const imports = service.flatMap(({ path, text }) =>
    [...text.matchAll(VALUE_IMPORT)].map(([, from, effect]) => ({ path, to: from ?? effect ?? '' })),
  );

  it('is read: imports of values and of types are distinguished', () => {
    expect(imports).toContainEqual({ path: 'src/main.ts', to: 'reflect-metadata' });
    expect(imports).toContainEqual({ path: 'src/composition/readiness.module.ts', to: 'typeorm' });
    expect(imports).not.toContainEqual({ path: 'src/composition/shared.modules.ts', to: 'pino' });
  });

  it.each([...LATE])('is not %s', (library, late) => {
    const isOfLibrary = (to: string) => to === library || to.startsWith(`${library}/`);
    const early = imports.filter(({ path, to }) => isOfLibrary(to) && !late.includes(path));
    expect(early).toEqual([]);
  });

  it('is no file that is loaded late', () => {
    const late = [...LATE.values()].flat().map((path) => path.replace(/^.*\/(.*)\.ts$/, '/$1.js'));
    expect(imports.filter(({ to }) => late.some((end) => to.endsWith(end)))).toEqual([]);
  });

  describe('of ours', () => {
    const started = reachedFrom(EARLY, imports);

    it('is followed from file to file', () => {
      expect(started).toContain('src/token-exchange/verify/compact-jws.ts');
    });

    it('is nothing of what only some configurations ask for', () => {
      const early = started.filter((path) => CHOSEN.test(path));
      expect(early).toEqual([]);
    });

    it(`is not more than ${MOST_FILES} files`, () => {
      expect(started.length).toBeLessThanOrEqual(MOST_FILES);
    });

    it('takes of jose the parts that it uses: the whole is three times as many files', () => {
      expect(imports.filter(({ to }) => to === 'jose')).toEqual([]);
    });
  });
});

interface Import {
  readonly path: string;
  readonly to: string;
}

function reachedFrom(entries: readonly string[], imports: readonly Import[]): readonly string[] {
  const reached = new Set(entries);
  // The set grows while it is read.
  for (const file of reached) {
    for (const { path, to } of imports) {
      if (path !== file || !to.startsWith('.')) continue;
      reached.add(posix.join(posix.dirname(path), to).replace(/\.js$/, '.ts'));
    }
  }
  return [...reached];
}
