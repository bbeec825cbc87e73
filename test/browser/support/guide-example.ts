// The example of the guide, which tests run unchanged.
import { repositoryFile } from '../../support/source-files.js';

/** The first example with a frame in it. */
export function exampleOfTheGuide(): string {
  const examples = repositoryFile('docs/partner/frame.md').text.matchAll(/```html\n(.*?)```/gs);
  const example = [...examples]
    .map(([, html = '']) => html)
    .find((html) => html.includes('<embedded-instance'));
  if (example === undefined) throw new Error('the guide has no example');
  return example;
}
