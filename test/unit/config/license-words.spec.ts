// Documents print the words that page and command have.
import { LICENSE_WORDS } from '../../../src/config/license-words.js';
import { repositoryFile } from '../../support/source-files.js';

it('the README describes the licence as `init` and the operator’s page do', () => {
  expect(repositoryFile('README.md').text.replace(/\s+/g, ' ')).toContain(LICENSE_WORDS);
});
