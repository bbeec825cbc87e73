// Reads the paths among the arguments of `npm test`, and says which of them no test file fits.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Options of Jest whose value is the next argument. */
const OPTIONS_WITH_VALUE = new Set(['-t', '--testNamePattern', '-w', '--maxWorkers', '--seed', '--shard']);

/** The arguments that are paths, or patterns of them. */
export function pathsAmong(args) {
  return args.filter((arg, index) => !arg.startsWith('-') && !OPTIONS_WITH_VALUE.has(args[index - 1]));
}

/** As Jest reads them: each is a regular expression for the whole path of a file. */
export function pathsWithoutTests(root, paths) {
  const folder = join(root, 'test');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.spec.ts'))
    .map((name) => join(folder, name));
  return paths.filter((path) => !files.some((file) => new RegExp(path, 'i').test(file)));
}
