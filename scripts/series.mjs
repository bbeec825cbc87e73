// Finds the series of long tests. A series is a file or folder in test/long, or a file that `npm test` runs in a small size.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Matches the functions of test/support/series.ts in files that `npm run test:long` runs in full size. */
const HAS_MORE = /\b(?:sizeOf\(\{|whenMeasured\()/;

/** The path pattern for Jest; undefined if the series' name is missing or unknown. */
export function seriesPattern(root, name) {
  const specs = seriesOf(root).get(name);
  return specs && `/(${specs.map((path) => path.replaceAll('.', '\\.')).join('|')})$`;
}

export function explainSeries(root) {
  return `Usage: npm run test:long -- NAME [arguments of Jest]\nNAME is one of ${[...seriesOf(root).keys()].sort().join(', ')}\n`;
}

/** The paths of each series' files, by the series' name. */
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
