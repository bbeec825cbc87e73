// Reads docs/internals/known-failures.md, and tells where it and the titles of the tests disagree.
import type { SourceFile } from '../../support/source-files.js';
import { relativeLinks } from './documentation.js';
import type { Claim } from './rule-list.js';

/** A row of the table. */
export interface KnownFailure {
  readonly id: string;
  /** The test files that the row names, by their paths. */
  readonly tests: readonly string[];
}

const ROW = /^\| (K\d+) \|/;
/** Id, what went wrong elsewhere, what stands against it here, tests. */
const CELLS = 4;

/** The rows of the table, in their order. */
export function parseFailureList({ path, text }: SourceFile): KnownFailure[] {
  return text.split('\n').flatMap((line) => {
    const id = ROW.exec(line)?.[1];
    if (id === undefined) return [];
    const cells = line.split('|').slice(1, -1);
    const tests = cells.length === CELLS ? relativeLinks({ path, text: cells[CELLS - 1] ?? '' }) : [];
    return [{ id, tests }];
  });
}

/** Everything in which the table and the titles disagree; nothing where they agree. */
export function failureDisagreements(list: readonly KnownFailure[], titles: readonly Claim[]): string[] {
  const ids = list.map(({ id }) => id);
  const inOrder = ids.map((_, index) => `K${index + 1}`);
  const unknown = titles.filter(({ id }) => !ids.includes(id));
  return [
    ...(ids.join() === inOrder.join() ? [] : [`the rows are not K1 to K${ids.length}, each once, in order`]),
    ...unknown.map(({ id, place }) => `${place}: ${id} is not in docs/internals/known-failures.md`),
    ...list.flatMap((failure) => problemsOf(failure, titles)),
  ];
}

function problemsOf({ id, tests }: KnownFailure, titles: readonly Claim[]): string[] {
  const places = titles.filter((title) => title.id === id).map(({ place }) => place.replace(/:\d+$/, ''));
  const files = new Set(places);
  if (files.size === 0) return [`${id}: no test title`];
  return [
    ...[...files]
      .filter((file) => !tests.includes(file))
      .map((file) => `${id}: the row does not name ${file}`),
    ...tests.filter((file) => !files.has(file)).map((file) => `${id}: ${file} has no title with it`),
  ];
}
