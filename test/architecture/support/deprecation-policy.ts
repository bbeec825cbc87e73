// Holds what is deprecated against the promise of docs/internals/versioning.md, and against the document that must tell of it.
import { gte, lt, parse } from 'semver';
import type { Deprecation } from '../../../src/config/load-config.js';

/** What the list is held against. */
export interface DeprecationSurroundings {
  /** The version of the package. */
  readonly version: string;
  /** docs/configuration.md */
  readonly markdown: string;
}

/** Deprecations that come too short, that are overdue, or of which the document says nothing. */
export function deprecationProblems(
  deprecations: readonly Deprecation[],
  surroundings: DeprecationSurroundings,
): string[] {
  return deprecations.flatMap((one) => [
    ...termProblems(one, surroundings),
    ...textProblems(one, surroundings),
  ]);
}

function termProblems({ name, since, removal }: Deprecation, { version }: DeprecationSurroundings): string[] {
  const unclear = [since, removal].filter((release) => parse(release)?.patch !== 0 || release.includes('-'));
  if (unclear.length > 0) return unclear.map((release) => `${name}: ${release} is no minor release`);
  const problems = lt(since, removal) ? [] : [`${name}: ${removal} is not later than ${since}`];
  if (gte(version, removal)) problems.push(`${name}: should be gone since ${removal}`);
  return problems;
}

function textProblems(
  { name, since, removal, successor }: Deprecation,
  { markdown }: DeprecationSurroundings,
): string[] {
  const sentence = `\`${name}\` is deprecated since ${since} and goes with ${removal}`;
  const whole = successor === undefined ? sentence : `${sentence}: set \`${successor}\` instead`;
  return markdown.includes(whole) ? [] : [`${name}: the document does not say "${whole}"`];
}
