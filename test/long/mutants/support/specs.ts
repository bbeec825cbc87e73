// Finds the test files whose code reaches a file of `src`.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { REPOSITORY } from '../../../support/source-files.js';

/** An import that is there when the program runs. */
const IMPORT = /^(?:import|export) (?!type\b)(?:[^;]*? from )?'(\.[^']+)\.js';/gm;

const imports = new Map<string, readonly string[]>();

function importsOf(file: string): readonly string[] {
  const known = imports.get(file);
  if (known !== undefined) return known;
  const paths = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, path = '']) => path);
  const files = paths.map((path) => join(dirname(file), `${path}.ts`));
  imports.set(file, files);
  return files;
}

function reaches(spec: string, file: string): boolean {
  const reached = new Set([spec]);
  for (const one of reached) for (const imported of importsOf(one)) reached.add(imported);
  return reached.has(file);
}

/** @param folder of the repository, relative to it */
export function specsReaching(file: string, folder: string): string[] {
  const names = readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' });
  const specs = names
    .filter((name) => name.endsWith('.spec.ts'))
    .map((name) => join(REPOSITORY, folder, name));
  return specs.filter((spec) => reaches(spec, file));
}
