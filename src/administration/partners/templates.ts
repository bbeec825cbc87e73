// Reads the templates of a partner's code. The operator's page has them in its build.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Templates } from './snippets.js';

export function readTemplates(): Templates {
  const folder = join(dirname(fileURLToPath(import.meta.url)), 'templates');
  return Object.fromEntries(
    readdirSync(folder).map((file) => [
      file.replace(/\.template$/, ''),
      readFileSync(join(folder, file), 'utf8'),
    ]),
  );
}
