// What counts as an address.
import { parsedUrl } from '../../../../src/platform/text/url.js';

/** By then Node.js has compiled the function that asks. */
const MANY = 20_000;

it.each([
  ['https://instance.example/é', 'https://instance.example/%C3%A9'],
  ['https://é.example', 'https://xn--9ca.example/'],
  // The bytes of a smiling face, each as a letter of its own: the last three may not stand in a host.
  ['https:\u00f0\u009f\u0098\u0080//instance.example', undefined],
  ['instance.example', undefined],
])('[D42] %j is stable when parsed repeatedly', (text, href) => {
  const told = new Set(Array.from({ length: MANY }, () => parsedUrl(text)?.href));
  expect([...told]).toEqual([href]);
});

it('reads a path from a base', () => {
  expect(parsedUrl('/é', 'https://instance.example')?.pathname).toBe('/%C3%A9');
});
