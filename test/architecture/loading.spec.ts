// Checks that what most installations never use is imported when it is used: the embedded engine and the hashing of passwords.
import { repositoryFiles } from '../support/source-files.js';

const LATE = ['@electric-sql/pglite', '@node-rs/argon2'];
const VALUE_IMPORT = /^(?:import|export)(?! type\b)[^;]*?from '([^']+)'|^import '([^']+)'/gm;

describe('what the start loads', () => {
  const imported = repositoryFiles()
    .filter(({ path }) => /^src\/.*\.ts$/.test(path))
    .flatMap(({ text }) => [...text.matchAll(VALUE_IMPORT)].map(([, from, effect]) => from ?? effect ?? ''));

  it('is read: a library that every start needs is found', () => {
    expect(imported).toContain('@nestjs/core');
  });

  it.each(LATE)('is not %s', (library) => {
    expect(imported.filter((to) => to === library || to.startsWith(`${library}/`))).toEqual([]);
  });
});
