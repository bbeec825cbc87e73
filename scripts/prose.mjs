// Checks the Markdown of the repository for words that the project does not use, and for sentences that are too long.
// Usage: node scripts/prose.mjs
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { bannedWordsIn, longSentencesIn } from '../eslint.prose.mjs';

/** Its words are the contract's own. */
const EXEMPT = /^docs\/internals\/contract\.md$/;

/** @returns a line for each fault of one document */
export function problemsOf(path, text) {
  const paragraphs = proseOf(text);
  const words = paragraphs.flatMap(({ line, prose }) =>
    bannedWordsIn(prose, 'documents').map((problem) => `${path}:${line}: ${problem}`),
  );
  const long = paragraphs.flatMap(({ line, prose }) =>
    longSentencesIn(prose).map((problem) => `${path}:${line}: ${problem}`),
  );
  return [...words, ...long];
}

/** Paragraphs, items of lists and cells of tables, without code, comments and addresses. */
function proseOf(text) {
  const lines = text
    .replace(/<!--[\s\S]*?-->/g, blanked)
    .replace(/^```[\s\S]*?^```/gm, blanked)
    .split('\n');
  const paragraphs = [];
  for (const [index, line] of lines.entries()) {
    const begins =
      /^\s*(?:[-*|#>]|\d+\.|$)/.test(line) || index === 0 || /^\s*(?:#|\||$)/.test(lines[index - 1]);
    const pieces = line.trimStart().startsWith('|') ? line.split('|') : [line];
    if (begins) paragraphs.push(...pieces.map((piece) => ({ line: index + 1, prose: piece })));
    else paragraphs.at(-1).prose += ` ${line}`;
  }
  return paragraphs
    .map(({ line, prose }) => ({ line, prose: prose.replace(/^[\s\-*>#]+/, '').trim() }))
    .filter(({ prose }) => prose !== '');
}

/** The same number of lines, with nothing in them. */
function blanked(text) {
  return text.replace(/[^\n]/g, '');
}

if (process.argv[1] === import.meta.filename) {
  const paths = execFileSync('git', ['ls-files', '-z', '*.md'], { encoding: 'utf8' }).split('\0');
  const problems = paths
    .filter((path) => path !== '' && !EXEMPT.test(path))
    .flatMap((path) => problemsOf(path, readFileSync(path, 'utf8')));
  if (problems.length > 0) console.error(problems.join('\n'));
  process.exitCode = problems.length > 0 ? 1 : 0;
}
