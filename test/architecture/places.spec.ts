// Compares the table "What is in several places" of docs/internals/architecture.md with the code.
import { repositoryFile, typescriptFiles } from '../support/source-files.js';

/** What the files of a row contain. Comments are ignored, and programs that partners are shown. */
const ROWS: Readonly<Record<string, RegExp>> = {
  'audit events': /(?<!function )\b(?:auditEvent|userChanged)\(/,
  'advisory locks': /\bpg_(?:try_)?advisory_/,
  announcements: /\bpg_notify\(|\bchannel: [A-Z_]+_CHANNEL\b/,
  'the environment': /\bprocess\.env\b/,
  'names of flows':
    /'(?:id-jag|jwt-bearer)'|\bflow [!=]== '|\bflows\.run\('|\bflow: '(?!api|operator)|\.has\('(?:embed|exchange)'\)/,
};

const files = typescriptFiles('src')
  .filter(({ path }) => !path.includes('/partners/'))
  .map(({ path, text }) => ({ path, code: text.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, '') }));

/** The files that a row of the table names, as far as they exist. */
function documented(row: string): string[] {
  const { text } = repositoryFile('docs/internals/architecture.md');
  const cell = text.split('\n').find((line) => line.startsWith(`| ${row} |`)) ?? '';
  return [...cell.matchAll(/`(?:[\w-]+\/)*([\w.-]+\.ts)`/g)].map(([, name = '']) => name);
}

it.each(Object.entries(ROWS))('the table lists every file with %s', (row, pattern) => {
  const found = files.filter(({ code }) => pattern.test(code)).map(({ path }) => path.split('/').at(-1));
  expect(found.length).toBeGreaterThan(0);
  expect(found.filter((name = '') => !documented(row).includes(name))).toEqual([]);
});
