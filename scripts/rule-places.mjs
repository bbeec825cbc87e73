#!/usr/bin/env node
// Writes the last column of docs/internals/rules.md: for each rule the file with its `@rule` tag.
// To be run after a rule has come, gone or moved to another file; a test says so where it was forgotten.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const list = join(root, 'docs', 'internals', 'rules.md');
const ROW = /^\| `/;
const ID = /`([^`]+)`/g;
const TAG = /@rule\s+(\S+)/g;
/** Id, rule, kind and status; what a cell says of the place follows them. */
const CELLS_BEFORE_PLACE = 5;

const places = taggedPlaces();
const lines = readFileSync(list, 'utf8').split('\n');
writeFileSync(list, lines.map((line) => (ROW.test(line) ? withPlace(line) : line)).join('\n'));

/** The path of the file that holds the tag, by the id in the tag. */
function taggedPlaces() {
  const paths = ['src', 'packages/partner/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts')),
  );
  const tags = paths.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return [...text.matchAll(TAG)].map(([, id]) => [id, path]);
  });
  return new Map(tags);
}

function withPlace(row) {
  const cells = row.split('|').slice(0, CELLS_BEFORE_PLACE);
  const ids = [...cells[1].matchAll(ID)].map(([, id]) => id);
  const place = ids.map((id) => places.get(id)).find((path) => path !== undefined);
  // Nearly all of them lie in src, which the list therefore does not repeat.
  const shown = place?.replace(/^src\//, '');
  return `${cells.join('|')}|${place === undefined ? '' : ` [${shown}](../../${place})`} |`;
}
