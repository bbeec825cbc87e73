// Reads Markdown documents: the links to other files.
import { posix } from 'node:path';
import type { SourceFile } from '../../support/source-files.js';

const FENCE = /^\s*```/;
const LINK = /\[[^\]]*\]\(([^)\s]+)[^)]*\)/g;
const ELSEWHERE = /^([a-z][a-z0-9+.-]*:|#)/i;

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
