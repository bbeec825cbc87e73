// The guides print the code that "Add a partner" and `partners add` give.
import { backendSnippets, pageSnippets } from '../../../../src/administration/partners/snippets.js';
import { readTemplates } from '../../../../src/administration/partners/templates.js';
import { repositoryFile } from '../../../support/source-files.js';

const FACTS = {
  issuer: 'https://partner.example',
  audience: 'http://localhost:5678',
  baseUrl: 'http://localhost:5678',
  kid: 'partner-1',
  algorithm: 'ES256',
  keyFile: 'partner/private.pem',
};
const snippets = [
  ...backendSnippets(readTemplates(), FACTS),
  ...pageSnippets(readTemplates(), { baseUrl: 'https://instance.example' }),
];

it.each([
  ['docs/partner/quickstart.md', ['node', 'python', 'html']],
  ['docs/partner/frame.md', ['html']],
  ['packages/embed/README.md', ['react', 'vue']],
])('%s contains the current snippets', (path, ids) => {
  const { text } = repositoryFile(path);
  const printed = snippets.filter(({ id }) => ids.includes(id));
  expect(printed).toHaveLength(ids.length);
  for (const snippet of printed) expect(text).toContain(snippet.text);
});
