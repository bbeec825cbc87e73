// Documents print the words that page and command have.
import { LICENSE_WORDS } from '../../../src/config/license-words.js';
import { repositoryFile } from '../../support/source-files.js';

it('the README says about the licence what `init` and the operator’s page say', () => {
  expect(repositoryFile('README.md').text.replace(/\s+/g, ' ')).toContain(LICENSE_WORDS);
});
