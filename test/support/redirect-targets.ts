// Targets of redirects that a login may be asked for, honest and not.

/** Targets that are followed unchanged or in their WHATWG form, and targets that become `/`. */
export const REDIRECTS: [string | undefined, string][] = [
  [undefined, '/'],
  ['', '/'],
  ['/', '/'],
  ['/workflows/7?tab=runs&x=1#log', '/workflows/7?tab=runs&x=1#log'],
  ['/wörk/日本', '/w%C3%B6rk/%E6%97%A5%E6%9C%AC'],
  ['/a b', '/a%20b'],
  ['/x?next=//evil.example', '/x?next=//evil.example'],
  ['/x?next=https%3A%2F%2Fevil.example%0d%0a', '/x?next=https%3A%2F%2Fevil.example%0d%0a'],
  ['/x#//evil.example', '/x#//evil.example'],
  ['workflows', '/'],
  [' /workflows', '/'],
  ['https://evil.example/', '/'],
  ['https:evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['https://instance.example/workflows', '/'],
  ['//evil.example', '/'],
  ['///evil.example', '/'],
  ['/\\evil.example', '/'],
  ['\\\\evil.example', '/'],
  ['//instance.example@evil.example/', '/'],
  ['/%2f%2fevil.example', '/'],
  ['/%2Fevil.example', '/'],
  ['/%5cevil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/%09/evil.example', '/'],
  ['/a\r\nSet-Cookie: stolen=1', '/'],
  ['/a%0d%0aSet-Cookie: stolen=1', '/'],
  ['/a\u0085b', '/'],
  ['/..//evil.example', '/'],
  ['/a/../..//evil.example', '/'],
];

/** Further targets that become `/`. */
export const TRICKS = [
  '/@evil.example',
  '/%252f%252fevil.example',
  '/.%2e//evil.example',
  '/x?a\r\nb',
  '/x#a\tb',
  '/;//evil.example',
  '/http://evil.example',
  '/%',
  '/%zz%2f',
  '/\u202eevil',
];
