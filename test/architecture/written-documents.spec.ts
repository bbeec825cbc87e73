// Compares the documents that are written from the code with the code.
import { WRITTEN_DOCUMENTS } from '../../scripts/docs/documents.js';
import { withBlock } from '../../scripts/docs/blocks.js';
import { repositoryFile } from '../support/source-files.js';

it.each(WRITTEN_DOCUMENTS)('$path is as `npm run docs` writes it', ({ path, write }) => {
  const { text } = repositoryFile(path);
  expect(text).toBe(write(text));
  expect(text.split('\n').slice(0, 2).join()).toContain('`npm run docs`');
});

it('a page without the block that is to be written is an error', () => {
  expect(() => withBlock('# Page', 'tokens', '')).toThrow('there is no block tokens');
});
