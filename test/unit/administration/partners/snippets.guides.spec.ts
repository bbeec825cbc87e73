// The guides print the lines for a page that "Add a partner" and `partners add` give.
import { pageSnippets } from '../../../../src/administration/partners/snippets.js';
import { repositoryFiles } from '../../../support/source-files.js';

it('each guide with the element prints the same lines', () => {
  const [html] = pageSnippets({ baseUrl: 'https://instance.example' });
  const guides = ['docs/partner/quickstart.md', 'docs/partner/frame.md'];
  const texts = repositoryFiles('docs').filter(({ path }) => guides.includes(path));
  expect(texts).toHaveLength(guides.length);
  for (const { text } of texts) expect(text).toContain(html?.text);
});
