// Writes the documents that are generated from the code, for `npm run docs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WRITTEN_DOCUMENTS } from './documents.js';

/** This file runs from `dist/scripts/docs`. */
const repository = join(import.meta.dirname, '..', '..', '..');

for (const { path, write } of WRITTEN_DOCUMENTS) {
  const file = join(repository, path);
  const before = readFileSync(file, 'utf8');
  const text = write(before);
  if (text === before) continue;
  writeFileSync(file, text);
  process.stdout.write(`${path} is written\n`);
}
