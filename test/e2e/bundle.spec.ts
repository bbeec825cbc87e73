// What the service starts from: few files, whose traces still lead to the sources.
import { readFileSync, readdirSync } from 'node:fs';
import { SourceMap } from 'node:module';
import type { SourceMapPayload } from 'node:module';
import { join, posix, relative } from 'node:path';
import { describeBuilt } from '../support/built-service.js';
import { REPOSITORY, repositoryFiles } from '../support/source-files.js';

const BUILT = join(REPOSITORY, 'dist', 'src');
/** The program, and what it imports itself once it has begun: see application.ts. */
const STARTED = ['main.js', 'app.module.js'];
/** The sources of a start are some four hundred. */
const MOST_FILES = 10;
/** Such as are there in every configuration. */
const OWN_IMPORT = /^(?:import|export) [^;]*?'(\.[^']+)'|^import '(\.[^']+)'/gm;
const CLASS = /^(?:export )?(?:abstract )?(?:let \w+ = (?:\w+ = )*)?class ([\w$]+)/gm;

describeBuilt('the built service', () => {
  const textOf = (file: string) => readFileSync(join(BUILT, file), 'utf8');
  const chunks = readdirSync(join(BUILT, 'chunks')).filter((name) => name.endsWith('.js'));
  const programs = ['main.js', 'application.js', 'app.module.js', 'cli/main.js'];
  const bundled = [...programs, ...chunks.map((name) => `chunks/${name}`)];

  it('starts from a few files, where nothing more is configured', () => {
    const reached = new Set(STARTED);
    for (const file of reached)
      for (const [, named, bare] of textOf(file).matchAll(OWN_IMPORT))
        reached.add(posix.join(posix.dirname(file), named ?? bare ?? ''));
    expect(reached.size).toBeGreaterThan(STARTED.length);
    expect(reached.size).toBeLessThanOrEqual(MOST_FILES);
  });

  it('has each class once, under the name that it has in the sources', () => {
    const named = (texts: string[]) =>
      texts.flatMap((text) => [...text.matchAll(CLASS)].map(([, name]) => name)).sort();
    const inBundle = named(bundled.map(textOf));
    expect(inBundle.length).toBeGreaterThan(300);
    const sources = repositoryFiles().filter(({ path }) => /^src\/.*\.ts$/.test(path));
    const inSources = named(sources.map(({ text }) => text));
    expect(inBundle.filter((name) => !inSources.includes(name))).toEqual([]);
    const often = (names: (string | undefined)[]) =>
      [...new Set(names.filter((name, at) => names.indexOf(name) !== at))].sort();
    expect(often(inBundle).filter((name) => !often(inSources).includes(name))).toEqual([]);
  });

  it.each([
    ['class JtiRepository', 'src/token-exchange/replay/jti.repository.ts'],
    ['class ConcurrencyLimit ', 'src/platform/http/concurrency-limit.ts'],
  ])('leads from %s to %s', (text, source) => {
    const file = bundled.find((name) => textOf(name).includes(text)) ?? '';
    const lines = textOf(file).split('\n');
    const line = lines.findIndex((one) => one.includes(text));
    const map = new SourceMap(JSON.parse(textOf(`${file}.map`)) as SourceMapPayload);
    const entry = map.findEntry(line, lines[line]!.indexOf(text));
    const found = 'originalSource' in entry ? entry.originalSource : '';
    expect(relative(REPOSITORY, join(BUILT, posix.dirname(file), found))).toBe(source);
  });
});
