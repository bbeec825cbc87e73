// The version that the service says it has.
import { VERSION } from '../../../src/platform/version.js';
import { repositoryFile } from '../../support/source-files.js';

it('the version matches package.json', () => {
  const manifest = JSON.parse(repositoryFile('package.json').text) as { version: string };
  expect(VERSION).toBe(manifest.version);
});
