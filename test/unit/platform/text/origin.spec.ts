import { originOfText } from '../../../../src/platform/text/origin.js';

describe('originOfText', () => {
  it.each([
    ['https://product.example', 'https://product.example'],
    ['http://localhost:8080/', 'http://localhost:8080'],
    ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
    ['https://under_score.example', 'https://under_score.example'],
    ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
  ])('[P.origins] takes %s', (text, origin) => {
    expect(originOfText(text)).toBe(origin);
  });

  it.each([
    ['a wildcard, which a policy of the browser would follow', 'https://*.product.example'],
    ['what would end the directive of a policy', 'https://product.example;sandbox'],
    ['what would end the policy', 'https://product.example,default'],
    ['a path', 'https://product.example/embed'],
    ['a user', 'https://user@product.example'],
    ['another scheme', 'ftp://product.example'],
    ['an upper case', 'https://Product.example'],
    ['no address', 'product.example'],
  ])('[P.origins] takes no origin with %s', (_, text) => {
    expect(originOfText(text)).toBeUndefined();
  });
});
