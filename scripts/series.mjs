// Knows the series of tests that take long: a file or a folder each in test/long, and other files that run in a small size elsewhere.
import { readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';

/** What a file calls of test/support/series.ts if `npm run test:long` does more of it. */
const HAS_MORE = /\b(?:sizeOf\(\{|whenMeasured\()/;

/** What Jest is given to run a series, or undefined where the name is missing or unknown. */
export function seriesPattern(root, name) {
  const specs = seriesOf(root).get(name);
  return specs && `/(${specs.map((path) => path.replaceAll('.', '\\.')).join('|')})$`;
}

export function explainSeries(root) {
  return `Usage: npm run test:long -- NAME [arguments of Jest]\nNAME is one of ${[...seriesOf(root).keys()].sort().join(', ')}\n`;
}

/** The paths of the files of each, by its name. */
function seriesOf(root) {
  const paths = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.spec.ts'))
    .map((path) => ['test', ...path.split(sep)].join('/'))
    .sort();
  const series = new Map();
  for (const path of paths) {
    const [, folder, ...names] = path.split('/');
    if (folder !== 'long' && !HAS_MORE.test(textOf(root, path))) continue;
    const name = (folder === 'long' ? names[0] : names.at(-1)).replace('.spec.ts', '');
    series.set(name, [...(series.get(name) ?? []), path]);
  }
  return series;
}

function textOf(root, path) {
  return readFileSync(join(root, path), 'utf8');
}
