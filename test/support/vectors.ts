// Finds the public test vectors next to the repository. Without them, the tests are skipped and say why.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeUnless } from './describe-unless.js';
import { REPOSITORY } from './source-files.js';

const FOLDER = process.env['TEST_VECTORS'] ?? join(REPOSITORY, '..', 'shared', 'vectors');

/** Reads the vectors by path below their folder. */
export interface Vectors {
  /** A file of JSON. */
  json<T>(path: string): T;
  /** The lines of a text file that are not empty. */
  lines(path: string): string[];
}

const VECTORS: Vectors = {
  json: <T>(path: string) => JSON.parse(readFileSync(join(FOLDER, path), 'utf8')) as T,
  lines: (path) => readFileSync(join(FOLDER, path), 'utf8').split(/\r?\n/).filter(Boolean),
};

/**
 * Declares tests on the files of one source.
 * @param source folder of the source, such as `wycheproof`
 * @param block declares the tests; it is called only if the folder exists
 */
export function describeWithVectors(title: string, source: string, block: (vectors: Vectors) => void): void {
  const missing = `the test vectors of ${source} are not in ../shared/vectors`;
  describeUnless(existsSync(join(FOLDER, source)) ? undefined : missing, title, () => block(VECTORS));
}
