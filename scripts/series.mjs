// Knows the series of tests that take long: a file or a folder each in test/long.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SERIES_FOLDER = 'test/long';
const SPEC = '.spec.ts';

/** What Jest is given to run a series, or undefined where the name is missing or unknown. */
export function seriesPattern(root, name) {
  return seriesOf(root).some((series) => series.name === name)
    ? `/${SERIES_FOLDER}/${name}(/|\\.spec\\.ts$)`
    : undefined;
}

export function explainSeries(root) {
  const series = seriesOf(root);
  const width = Math.max(...series.map(({ name }) => name.length)) + 2;
  const lines = series.map(({ name, purpose }) => `  ${name.padEnd(width)}${purpose}\n`);
  return `Usage: npm run test:long -- NAME [arguments of Jest]\nNAME is one of\n${lines.join('')}`;
}

/** Each with the first line of its (first) file, which says what it is for. */
function seriesOf(root) {
  const folder = join(root, SERIES_FOLDER);
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => ({ name: entry.name.replace(SPEC, ''), specs: specsOf(folder, entry) }))
    .filter(({ specs }) => specs.length > 0)
    .map(({ name, specs }) => ({ name, purpose: firstComment(specs[0]) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function specsOf(folder, entry) {
  const path = join(folder, entry.name);
  if (!entry.isDirectory()) return entry.name.endsWith(SPEC) ? [path] : [];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith(SPEC),
  );
  return names.sort().map((name) => join(path, name));
}

function firstComment(file) {
  return readFileSync(file, 'utf8')
    .split('\n', 1)[0]
    .replace(/^\/\/ /, '');
}
