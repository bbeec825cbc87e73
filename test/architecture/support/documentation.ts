// Reads Markdown documents: their links to files of the repository, and the places that links can name.
import { posix } from 'node:path';
import type { SourceFile } from '../../support/source-files.js';

const FENCED = /^\s*```[\s\S]*?^\s*```/gm;
const LINK = /\[[^\]]*\]\(([^)\s]+)[^)]*\)/g;
const ELSEWHERE = /^[a-z][a-z0-9+.-]*:/i;

/** A link, as a path from the top of the repository, and behind `#` the place in that file. */
export interface Link {
  readonly path: string;
  readonly anchor: string;
}

/** Links to files of the repository, outside code blocks. */
export function relativeLinks({ path, text }: SourceFile): Link[] {
  return [...text.replace(FENCED, '').matchAll(LINK)]
    .map(([, target = '']) => target)
    .filter((target) => !ELSEWHERE.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { path: file === '' ? path : posix.join(posix.dirname(path), file), anchor };
    });
}

/** Links of documents that lead to no file, or to no place in a document. */
export function brokenLinks(documents: readonly SourceFile[], isThere: (path: string) => boolean): string[] {
  const anchors = new Map(documents.map(({ path, text }) => [path, anchorsOf(text)]));
  const isBroken = ({ path, anchor }: Link) =>
    !isThere(path) || (anchor !== '' && anchors.get(path)?.has(anchor) === false);
  return documents.flatMap((document) =>
    relativeLinks(document)
      .filter(isBroken)
      .map(({ path, anchor }) => `${document.path}: ${path}#${anchor}`),
  );
}

/** What may stand behind `#`: headings as GitHub names them, and `<a id="…">`. */
function anchorsOf(text: string): ReadonlySet<string> {
  const prose = text.replace(FENCED, '');
  const headings = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .replace(LINK, (link) => link.slice(1, link.indexOf(']')))
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...headings, ...[...prose.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]);
}
