// Checks that the start of the service loads no library which only some runs need: such a one is imported when it is used.
import { repositoryFiles } from '../support/source-files.js';

/** Each library, and the files that may import it as they are loaded, because they are themselves loaded late. */
const LATE = new Map<string, readonly string[]>([
  ['@nestjs/swagger', []],
  ['class-validator', []],
  ['ajv', []],
  ['ajv-formats', []],
  ['undici', ['src/token-exchange/keys/jwks/guarded-connector.ts']],
  ['@electric-sql/pglite', []],
]);
const VALUE_IMPORT = /^(?:import|export)(?! type\b)[^;]*?from '([^']+)'|^import '([^']+)'/gm;

describe('what the start loads', () => {
  const service = repositoryFiles().filter(({ path }) => /^src\/.*\.ts$/.test(path));
  const imports = service.flatMap(({ path, text }) =>
    [...text.matchAll(VALUE_IMPORT)].map(([, from, effect]) => ({ path, to: from ?? effect ?? '' })),
  );

  it('is read: imports of values and of types are told apart', () => {
    expect(imports).toContainEqual({ path: 'src/main.ts', to: 'reflect-metadata' });
    expect(imports).toContainEqual({ path: 'src/app.module.ts', to: 'typeorm' });
    expect(imports).not.toContainEqual({ path: 'src/app.module.ts', to: 'pino' });
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
});
