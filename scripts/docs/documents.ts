// What is written from the code: which document, and how. `npm run docs` writes them all, and a test compares.
import { ATTRIBUTE_TABLE } from './attributes.js';
import { withBlock } from './blocks.js';
import { COMMAND_BLOCKS } from './commands.js';
import { ENTRY_BLOCKS } from './entries.js';
import { EVENT_BLOCKS, PACKAGE_EVENT_LIST, eventSchema } from './events.js';
import { METRIC_BLOCKS } from './metrics.js';
import { REFUSAL_BLOCKS } from './refusals.js';
import { PACKAGE_SETTINGS, VARIABLE_LIST } from './settings.js';

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
  page('docs/reference/commands.md', COMMAND_BLOCKS),
  page('docs/partner/frame.md', ATTRIBUTE_TABLE),
  page('docs/reference/settings.md', VARIABLE_LIST),
  page('docs/refusals.md', REFUSAL_BLOCKS),
  page('docs/reference/trusted-key-entries.md', ENTRY_BLOCKS),
  page('docs/reference/audit-events.md', EVENT_BLOCKS),
  page('docs/reference/metrics.md', METRIC_BLOCKS),
  page('src/token-exchange/docs/reference.md', { ...PACKAGE_EVENT_LIST, ...PACKAGE_SETTINGS }),
  { path: 'docs/reference/audit-events.schema.json', write: eventSchema },
];
