// Reads Markdown documents: the table of settings, and the links to other files.
import { posix } from 'node:path';
import type { SourceFile } from '../../support/source-files.js';

/** What the document must say of a setting. */
export interface DocumentedVariable {
  readonly name: string;
  readonly default?: string;
  readonly range?: string;
}

/** A row of a table that begins with a name in backticks. */
const VARIABLE_ROW = /^\| `([A-Z][A-Z0-9_]*)` \|(.*)\|$/;
const FENCE = /^\s*```/;
const LINK = /\[[^\]]*\]\(([^)\s]+)[^)]*\)/g;
const ELSEWHERE = /^([a-z][a-z0-9+.-]*:|#)/i;

/** What is missing, wrong, unknown or out of order in the table of settings; nothing where it agrees with the code. */
export function settingsProblems(markdown: string, variables: readonly DocumentedVariable[]): string[] {
  const rows = markdown.split('\n').flatMap((line) => {
    const [, name, rest] = VARIABLE_ROW.exec(line) ?? [];
    return name === undefined || rest === undefined ? [] : [{ name, rest: unescaped(rest) }];
  });
  const documented = rows.map(({ name }) => name);
  const known = variables.map(({ name }) => name);
  const problems = variables.flatMap((variable) => {
    const row = rows.find(({ name }) => name === variable.name);
    return row === undefined ? [`${variable.name}: no row`] : rowProblems(row.rest, variable);
  });
  problems.push(
    ...documented.filter((name) => !known.includes(name)).map((name) => `${name}: no such variable`),
  );
  if (problems.length === 0 && documented.join() !== known.join()) {
    problems.push(`the rows stand in another order than the code, or twice: ${documented.join(', ')}`);
  }
  return problems;
}

/** Relative links, as paths from the top of the repository; code blocks and fragments left out. */
export function relativeLinks({ path, text }: SourceFile): string[] {
  let inFence = false;
  return text.split('\n').flatMap((line) => {
    if (FENCE.test(line)) inFence = !inFence;
    if (inFence) return [];
    return [...line.matchAll(LINK)]
      .map((match) => match[1] ?? '')
      .filter((target) => !ELSEWHERE.test(target))
      .map((target) => posix.join(posix.dirname(path), target.replace(/#.*$/, '')));
  });
}

function rowProblems(row: string, variable: DocumentedVariable): string[] {
  const expected = [variable.default, variable.range].filter((text) => text !== undefined);
  return expected
    .filter((text) => !row.includes(text))
    .map((text) => `${variable.name}: the row does not say ${text}`);
}

/** A vertical bar inside a cell is written with a backslash. */
function unescaped(cell: string): string {
  return cell.replaceAll('\\|', '|');
}
