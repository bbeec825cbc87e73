// Which spellings of a URI are one, and which are not (RFC 3986 §6.2.2, §6.2.3).
import { isSameUri, mayMean, spellingIn } from '../../../../src/platform/text/uri.js';

const URI = 'https://orders.example/a/b?c=d';

describe('[P.resources] equal URIs', () => {
  it.each([
    [URI, URI],
    [URI, 'HTTPS://Orders.EXAMPLE/a/b?c=d'],
    [URI, 'https://orders.example:443/a/b?c=d'],
    [URI, 'https://%6Frders.example/a/b?c=d'],
    [URI, 'https://orders.example/%61/b?%63=d'],
    [URI, 'https://orders.example/x/../a/./b?c=d'],
    ['https://orders.example', 'https://orders.example/'],
    ['https://orders.example?c', 'https://orders.example/?c'],
    ['https://orders.example/a/..', 'https://orders.example/'],
    ['https://orders.example/a%3ab', 'https://orders.example/a%3Ab'],
    ['https://orders.example/%7Ea', 'https://orders.example/~a'],
    ['http://orders.example:80', 'http://orders.example'],
    ['https://[2001:DB8::1]:443', 'https://[2001:db8::1]/'],
    ['API://Orders', 'api://orders/'],
    ['URN:example:a', 'urn:example:a'],
    ['no uri', 'no uri'],
  ])('are %s and %s', (one, other) => {
    expect([isSameUri(one, other), isSameUri(other, one)]).toEqual([true, true]);
  });
});

describe('[P.resources] different URIs', () => {
  it.each([
    ['by scheme', URI, 'http://orders.example/a/b?c=d'],
    ['by host', URI, 'https://orders.example.evil.example/a/b?c=d'],
    ['by a dot after the host', 'https://orders.example', 'https://orders.example.'],
    ['by port', 'https://orders.example', 'https://orders.example:80'],
    ['by the port of another scheme', 'http://orders.example', 'http://orders.example:443'],
    ['by the port of a scheme that has none', 'api://orders', 'api://orders:443'],
    ['by letter case of the path', 'https://orders.example/a', 'https://orders.example/A'],
    ['by a slash after the path', 'https://orders.example/a', 'https://orders.example/a/'],
    ['by a double slash', 'https://orders.example/a/b', 'https://orders.example/a//b'],
    ['by an empty query', 'https://orders.example/', 'https://orders.example/?'],
    ['by user', 'https://orders.example', 'https://user@orders.example'],
    ['by letter case of the user', 'https://A@orders.example', 'https://a@orders.example'],
    ['by an encoded slash', 'https://orders.example/a/b', 'https://orders.example/a%2Fb'],
    ['by an encoded percent sign', 'https://orders.example/a', 'https://orders.example/%2561'],
    ['by a space', 'https://orders.example/a', ' https://orders.example/a'],
    ['by a backslash', 'https://orders.example/a', 'https:\\\\orders.example\\a'],
    ['by a letter that a browser maps', 'https://orders.example', 'https://ⓞrders.example'],
    ['by missing slashes', 'https://orders.example/', 'https:orders.example/'],
    ['by a number for an address', 'https://127.0.0.1', 'https://2130706433'],
    ['by dots of a name without a path', 'urn:a/../b', 'urn:b'],
    ['by dots in the query', 'https://orders.example/?a/../b', 'https://orders.example/?b'],
    ['by a path that begins like a host', 'file:///a', 'file:/a'],
    ['by the letter case of a text', 'orders', 'Orders'],
  ])('are %s', (_, one, other) => {
    expect([isSameUri(one, other), isSameUri(other, one)]).toEqual([false, false]);
  });
});

it('[P.resources] a list returns its own spelling', () => {
  const list = new Set(['https://a.example', 'https://b.example/x', 'HTTPS://c.example']);
  const asked = ['https://A.example:443/', 'https://b.example/x', 'https://c.example/', 'https://d.example'];
  expect(asked.map((uri) => spellingIn(list, uri))).toEqual([...list, undefined]);
});

describe('[D126] an address', () => {
  it.each([
    ['https://us.example', true],
    ['HTTPS://us.example:443/', true],
    [' https:\\\\us.example', true],
    ['https:us.example', true],
    ['https://uⓢ.example', true],
    ['https://them.example', false],
  ])('is suggested for %j: %s', (text, isMeant) => expect(mayMean(text, 'https://us.example')).toBe(isMeant));
});
