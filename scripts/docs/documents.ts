// The documents that are generated from the code. `npm run docs` writes them, and a test compares them.
import { ATTRIBUTE_LIST } from './attributes.js';
import { withBlock } from './blocks.js';
import { COMMAND_BLOCKS } from './commands.js';
import { ENTRY_BLOCKS } from './entries.js';
import { EVENT_BLOCKS, eventSchema, PACKAGE_EVENT_LIST } from './events.js';
import { METRIC_BLOCKS } from './metrics.js';
import { REFUSAL_BLOCKS } from './refusals.js';
import { PACKAGE_SETTINGS, VARIABLE_LIST } from './settings.js';

export interface WrittenDocument {
  readonly path: string;
  /** @param text the document's current text */
  readonly write: (text: string) => string;
}

/** A page in which some blocks are generated. */
function page(path: string, blocks: Readonly<Record<string, () => string>>): WrittenDocument {
  const write = (text: string) =>
    Object.entries(blocks).reduce((whole, [name, make]) => withBlock(whole, name, make()), text);
  return { path, write };
}

export const WRITTEN_DOCUMENTS: readonly WrittenDocument[] = [
  page('docs/reference/commands.md', COMMAND_BLOCKS),
  page('docs/partner/frame.md', ATTRIBUTE_LIST),
  page('docs/reference/settings.md', VARIABLE_LIST),
  page('docs/refusals.md', REFUSAL_BLOCKS),
  page('docs/reference/trusted-key-entries.md', ENTRY_BLOCKS),
  page('docs/reference/audit-events.md', EVENT_BLOCKS),
  page('docs/reference/metrics.md', METRIC_BLOCKS),
  page('src/token-exchange/docs/reference.md', { ...PACKAGE_EVENT_LIST, ...PACKAGE_SETTINGS }),
  { path: 'docs/reference/audit-events.schema.json', write: eventSchema },
];
