// Reads a changelog and tells where it departs from the form of Keep a Changelog 1.1.0.
import { lt, valid } from 'semver';

const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
const UNRELEASED = '## [Unreleased]';
const RELEASE = /^## \[(?<version>[^\]]+)\] - (?<date>\d{4}-\d{2}-\d{2})(?: \[YANKED\])?$/;

/** One `##` section: its heading, and the lines up to the next. */
interface Section {
  readonly heading: string;
  readonly lines: readonly string[];
}

interface Release {
  readonly version: string;
  readonly date: string;
}

/** The released versions, in the order of the file. */
export function releases(markdown: string): Release[] {
  return sectionsOf(markdown).flatMap(({ heading }) => releaseOf(heading) ?? []);
}

/** Everything that is wrong with the form; nothing where it is right. */
export function changelogProblems(markdown: string): string[] {
  const [first, ...others] = sectionsOf(markdown);
  const problems = markdown.startsWith('# Changelog\n') ? [] : ['the first line is not "# Changelog"'];
  if (first?.heading !== UNRELEASED) problems.push(`the first section is not "${UNRELEASED}"`);
  const released = first?.heading === UNRELEASED ? others : sectionsOf(markdown);
  problems.push(...released.flatMap(releaseProblems), ...orderProblems(releases(markdown)));
  return [...problems, ...sectionsOf(markdown).flatMap(kindProblems)];
}

function sectionsOf(markdown: string): Section[] {
  const [, ...parts] = markdown.split(/^(?=## )/m);
  return parts.map((part) => {
    const [heading = '', ...lines] = part.split('\n');
    return { heading, lines };
  });
}

function releaseOf(heading: string): Release | undefined {
  const { version, date } = RELEASE.exec(heading)?.groups ?? {};
  if (version === undefined || date === undefined) return undefined;
  return valid(version) === version ? { version, date } : undefined;
}

function releaseProblems({ heading, lines }: Section): string[] {
  const release = releaseOf(heading);
  if (release === undefined) return [`"${heading}" is not "## [MAJOR.MINOR.PATCH] - YYYY-MM-DD"`];
  const problems = isDay(release.date) ? [] : [`"${heading}" has a date that is none`];
  if (!lines.some((line) => line.startsWith('- '))) problems.push(`"${heading}" tells nothing`);
  return problems;
}

/** 2026-02-31 is well formed, and no day. */
function isDay(date: string): boolean {
  const time = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date);
}

function orderProblems(all: readonly Release[]): string[] {
  return all.slice(1).flatMap((older, index) => {
    const newer = all[index];
    if (newer === undefined) return [];
    const problems = lt(older.version, newer.version)
      ? []
      : [`${older.version} stands below ${newer.version} and is not older`];
    if (older.date > newer.date) problems.push(`${older.version} has a later date than ${newer.version}`);
    return problems;
  });
}

function kindProblems({ heading, lines }: Section): string[] {
  const headings = lines.filter((line) => line.startsWith('###'));
  const kinds = headings.map((line) => line.replace(/^### /, ''));
  const beforeFirst = lines.slice(0, Math.max(0, lines.indexOf(headings[0] ?? '')));
  const loose = headings.length === 0 ? lines : beforeFirst;
  return [
    ...loose
      .filter((line) => line.startsWith('- '))
      .map((line) => `${heading}: "${line}" stands below no kind`),
    ...kinds
      .filter((kind) => !KINDS.includes(kind))
      .map((kind) => `${heading}: "${kind}" is not one of ${KINDS.join(', ')}`),
    ...kinds
      .filter((kind, index) => kinds.indexOf(kind) !== index)
      .map((kind) => `${heading}: "${kind}" stands twice`),
    ...emptyKinds(lines).map((kind) => `${heading}: "${kind}" is empty`),
  ];
}

function emptyKinds(lines: readonly string[]): string[] {
  const [, ...parts] = lines.join('\n').split(/^(?=### )/m);
  return parts
    .filter((part) => !part.includes('\n- '))
    .map((part) => part.split('\n', 1)[0]?.replace(/^### /, '') ?? '');
}
