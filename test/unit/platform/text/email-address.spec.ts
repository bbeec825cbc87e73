// Which texts are e-mail addresses, and how their domains are named.
import { domainNamed, isEmailAddress } from '../../../../src/platform/text/email-address.js';

it.each([
  ['PRODUCT.example', 'product.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BU\u0308CHER.example', 'xn--bcher-kva.example'],
  ['дом.рф', 'xn--d1aqf.xn--p1ai'],
  // Another domain than product.example, with a Cyrillic о.
  ['pr\u043educt.example', 'xn--prduct-xqf.example'],
])('[D4] the domain %s is %s', (text, named) => {
  expect(domainNamed(text)).toBe(named);
  expect(isEmailAddress(`ada@${text}`)).toBe(true);
});

it.each([
  ['a soft hyphen', 'prod\u00aduct.example'],
  ['U+200B', 'prod\u200buct.example'],
  ['a letter in a circle', 'pr\u24deduct.example'],
  ['an ideographic full stop', 'product\u3002example'],
  ['Punycode of nothing that a domain may have', 'a.xn--a.example'],
])('[D4] a domain with %s is invalid', (_what, text) => {
  expect(domainNamed(text)).toBeUndefined();
  expect(isEmailAddress(`ada@${text}`)).toBe(false);
});

it.each(['\u202e', '\u200b', '\u00ad', '\u0085', '\u2028', '\u3164', '\ufe0f', '\u034f', '\u00a0'])(
  '[2.2.7] no address contains %j',
  (unseen) => {
    expect(isEmailAddress(`a${unseen}da@product.example`)).toBe(false);
    expect(isEmailAddress(`"a${unseen}da"@product.example`)).toBe(false);
  },
);

it.each([
  ...['аda@product.example', 'дима@product.example', '阿达@product.example', '"ada b"@product.example'],
  ...['Ada.Love+x@sub.a.example', "o'neill@a.example", 'ж@почта.example', 'a@xn--80a1acny.example'],
])('[2.2.7] %s is an address', (address) => expect(isEmailAddress(address)).toBe(true));

it.each([
  ...['', ' ', 'ada', '@a.example', 'ada@', 'ada@a@b.example', 'ada a.example', 'ada@a .example'],
  ...['ada@a..example', '.ada@a.example', 'ada@-a.example', 'Ada <ada@a.example>', 'mailto:ada@a.example'],
  ...['ada@a.example,b@b.example', 'ada@a.example ', '\tada@a.example', 'ada@a.example\r\nbcc:b@b.example'],
])('[2.2.7] %j is not an address', (text) => expect(isEmailAddress(text)).toBe(false));
