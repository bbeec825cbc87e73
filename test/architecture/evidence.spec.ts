// Holds what docs/evidence.md says was tried against what is there to try it: versions, and names of series.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { REPOSITORY, repositoryFile, repositoryFiles } from '../support/source-files.js';

it('evidence names the versions of clients that are tried', () => {
  const { text } = repositoryFile('docs/evidence.md');
  // [name](path) 1.2.3 and 4.5.6
  const named = [...text.matchAll(/\]\((\.\.\/[^)]+)\) (v?\d[\w.]*(?: and v?\d[\w.]*)*)/g)];
  const pairs = named.flatMap(([, path = '', versions = '']) =>
    versions.split(' and ').map((version) => ({ path: join('docs', path), version })),
  );
  expect(pairs.length).toBeGreaterThan(15);
  expect(pairs.filter(({ path, version }) => !repositoryFile(path).text.includes(version))).toEqual([]);
});

it('documents name no series of tests that is not there', () => {
  const { stderr } = spawnSync(process.execPath, ['scripts/run.mjs', 'test:long'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  });
  const series = / is one of (.+)\n/.exec(stderr)?.[1]?.split(', ') ?? [];
  expect(series).toContain('kills');
  const named = repositoryFiles()
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/test:long -- ([a-z][\w-]*)/g)].map(([, name = '']) => ({ path, name })),
    );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ name }) => !series.includes(name))).toEqual([]);
});
