// package.json says which versions of Node.js the service runs on. Every other file repeats it.
import { repositoryFile, repositoryFiles } from '../support/source-files.js';

const SUPPORTED = /"node": "(>=(\d+\.\d+))"/;
const [, range = '', oldest = ''] = SUPPORTED.exec(repositoryFile('package.json').text) ?? [];

/** A sentence of a document about the oldest version, such as "Node.js 20.19 or newer" or "It needs Node.js 20.19". */
const OLDEST = /Node\.js (\d+\.\d+)(?= or newer)|(?<=needs Node\.js )(\d+\.\d+)/g;

it('package.json has one oldest Node.js version', () => {
  expect(range).toMatch(/^>=\d+\.\d+$/);
});

it('every package has the same Node.js range', () => {
  const packages = repositoryFiles().filter(({ path }) => /(^|\/)package\.json$/.test(path));
  const others = packages.flatMap(({ path, text }) => {
    const [, own] = SUPPORTED.exec(text) ?? [];
    return own === undefined || own === range ? [] : [`${path}: ${own}`];
  });
  expect(packages.length).toBeGreaterThan(5);
  expect(others).toEqual([]);
});

it('the documents name the oldest Node.js version', () => {
  const named = repositoryFiles()
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) => [...text.matchAll(OLDEST)].map((match) => [path, match[1] ?? match[2]]));
  expect(named).toContainEqual(['README.md', oldest]);
  expect(named.filter(([, version]) => version !== oldest)).toEqual([]);
});

it('the code is compiled with the types of the oldest Node.js version', () => {
  const { devDependencies } = JSON.parse(repositoryFile('package.json').text) as {
    devDependencies: Record<string, string>;
  };
  expect(devDependencies['@types/node']).toMatch(new RegExp(`^${oldest.replace('.', '\\.')}\\.`));
});
