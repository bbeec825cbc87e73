import { originOfText, pageOrigin } from '../../../../src/platform/text/origin.js';

describe('originOfText', () => {
  it.each([
    ['https://product.example', 'https://product.example'],
    ['http://localhost:8080/', 'http://localhost:8080'],
    ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
    ['https://under_score.example', 'https://under_score.example'],
    ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
  ])('[P.origins] accepts %s', (text, origin) => {
    expect(originOfText(text)).toBe(origin);
  });

  it.each([
    ['a wildcard, which a policy of the browser would follow', 'https://*.product.example'],
    ['what would end the directive of a policy', 'https://product.example;sandbox'],
    ['a path', 'https://product.example/embed'],
    ['a user', 'https://user@product.example'],
    ['another scheme', 'ftp://product.example'],
    ['no address', 'product.example'],
  ])('[P.origins] rejects an origin with %s', (_, text) => {
    expect(originOfText(text)).toBeUndefined();
  });
});

describe('[P.origins] the origin of a page', () => {
  it.each([
    ...['https://product.example', 'http://localhost:8080', 'capacitor://localhost', 'ionic://localhost'],
    ...['tauri://localhost', 'app://-', 'chrome-extension://abcdefghijklmnop', 'my.app+1://host:8080'],
  ])('may be %s', (text) => expect(pageOrigin(text)).toBe(text));

  it.each([
    ...[
      'capacitor://*',
      'capacitor://',
      'capacitor:localhost',
      'capacitor://localhost/',
      'Capacitor://localhost',
    ],
    ...['capacitor://localhost/a', 'capacitor://user@localhost', 'capacitor://local host', 'capacitor://a;b'],
    ...['capacitor://LOCALHOST', 'capacitor://localhost,app', 'file://localhost', 'ftp://product.example'],
    ...[
      'ws://product.example',
      'wss://product.example',
      'data://a',
      'blob://a',
      'javascript://a',
      'about://a',
    ],
    ...['https://*.product.example', 'null', '*', 'filesystem://a', "capacitor://'self'"],
  ])('may not be %s', (text) => expect(pageOrigin(text)).toBeUndefined());

  it('of an app is not an address of an instance', () =>
    expect(originOfText('capacitor://localhost')).toBeUndefined());
});
