// What is written from the code: which document, and how. `npm run docs` writes them all, and a test compares.
import { withBlock } from './blocks.js';
import { REFUSAL_BLOCKS, EMBED_ANSWERS } from './refusals.js';

export interface WrittenDocument {
  readonly path: string;
  /** @param text of the document as it is now */
  readonly write: (text: string) => string;
}

/** A page of which some blocks are written. */
function page(path: string, blocks: Readonly<Record<string, () => string>>): WrittenDocument {
  const write = (text: string) =>
    Object.entries(blocks).reduce((whole, [name, make]) => withBlock(whole, name, make()), text);
  return { path, write };
}

export const WRITTEN_DOCUMENTS: readonly WrittenDocument[] = [
  page('docs/refusals.md', REFUSAL_BLOCKS),
  page('docs/endpoints.md', EMBED_ANSWERS),
];
