// Parses URLs.
import { parsedUrl } from '../../../../src/platform/text/url.js';

/** After so many calls V8 has compiled the function. */
const MANY = 20_000;

it.each([
  ['https://instance.example/é', 'https://instance.example/%C3%A9'],
  ['https://é.example', 'https://xn--9ca.example/'],
  // The four bytes of an emoji as four characters, three of which a host must not contain.
  ['https:\u00f0\u009f\u0098\u0080//instance.example', undefined],
  ['instance.example', undefined],
])('[D42] %j is stable when parsed repeatedly', (text, href) => {
  const told = new Set(Array.from({ length: MANY }, () => parsedUrl(text)?.href));
  expect([...told]).toEqual([href]);
});

it('reads a path from a base', () => {
  expect(parsedUrl('/é', 'https://instance.example')?.pathname).toBe('/%C3%A9');
});
