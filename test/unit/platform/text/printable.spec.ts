// How logs and pages show external values, and which values they never show.
import {
  printable,
  printableAddress,
  printableList,
  printableName,
  printableSeconds,
  visible,
} from '../../../../src/platform/text/printable.js';

const TOKEN = `eyJhbGciOiJFUzI1NiJ9.${Buffer.from('{"sub":"somebody"}').toString('base64url')}.${'x'.repeat(86)}`;

describe('[D77] a string', () => {
  it.each([
    ['HS256', 'HS256'],
    ['https://instance.example', 'https://instance.example'],
    ['ключ', 'ключ'],
    ['key@2026', 'key@2026'],
    ['NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs', 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'],
  ])('%j is shown unchanged', (value, shown) => expect(printable(value)).toBe(shown));

  it.each([
    ['shared\0', 'shared\\u{0}'],
    ['a\nb\r', 'a\\u{a}b\\u{d}'],
    ['k1 ', 'k1\\u{20}'],
    [' k1', '\\u{20}k1'],
    ['ad\u200bmin', 'ad\\u{200b}min'],
    ['\u202emoc', '\\u{202e}moc'],
    ['\ud800x', '\\u{d800}x'],
    ['\u001b[31m', '\\u{1b}[31m'],
    ['a\\b', 'a\\u{5c}b'],
  ])('%j is shown with its invisible characters escaped', (value, shown) =>
    expect(printable(value)).toBe(shown),
  );

  it.each([
    [
      'a\u0085b\u009bc\u2028d\u202ee\u2066f\u2069g\0h',
      'a\\u{85}b\\u{9b}c\\u{2028}d\\u{202e}e\\u{2066}f\\u{2069}g\\u{0}h',
    ],
    [' workflow:read  Ключ@x ', ' workflow:read  Ключ@x '],
    ['x'.repeat(1024), 'x'.repeat(1024)],
  ])('%.40j is recorded unchanged except for invisible characters', (value, shown) =>
    expect(visible(value)).toBe(shown),
  );

  it.each([
    ['https://orders.example', 'https://orders.example'],
    ['https://orders.example/a?key=1&b#c', 'https://orders.example/a'],
    ['https://me:secret@orders.example/a?x', 'https://orders.example/a'],
    ['https://:secret@orders.example/a', 'https://orders.example/a'],
    ['urn:example:svc?=q', 'urn:example:svc'],
    ['no address?x\u202e', 'no address'],
    ['https://orders.example/\u202ea', 'https://orders.example/\\u{202e}a'],
  ])('%j as an address is shown as %s', (uri, told) => expect(printableAddress(uri)).toBe(told));

  it.each([
    'somebody@private.example',
    'somebody%40private.example',
    'Some Body <some.body@xn--mller-kva.example>',
    TOKEN,
    TOKEN.split('.')[1]!,
    'x'.repeat(65),
    '-----BEGIN PUBLIC KEY-----\nMFkw',
    `${'short '.repeat(40)}somebody@private.example`,
  ])('%.60j is not shown', (value) => {
    expect(printable(value)).toMatch(/^\(not shown: [a-z ,-]+\)$/);
  });

  it('has at most 200 characters after escaping', () => {
    for (const text of ['ab '.repeat(1_000), '\0'.repeat(1_000), '😀 '.repeat(1_000)]) {
      expect([...printable(text)]).toHaveLength(200);
      expect(printable(text)).toMatch(/…$/);
    }
    expect(printable('ab '.repeat(66).trim())).not.toContain('…');
  });
});

it.each([
  [undefined, 'nothing'],
  [null, 'null'],
  ['', 'an empty text'],
  [7, 'a number'],
  [['kid'], 'a list'],
  [{ kid: 1 }, 'an object'],
])('[D77] the kind of %j is reported', (value, kind) => expect(printable(value)).toBe(kind));

describe('[D77] a name in an unverified token', () => {
  it.each(['HS256', 'none', 'partner-2026/a=b:c~d.e_f+g', 'text/plain; charset=utf-8'])(
    '%j is shown',
    (value) => expect(printableName(value)).toBe(value),
  );

  it('is shown with its invisible characters escaped', () => {
    expect(printableName('k1\n')).toBe('k1\\u{a}');
    expect(printableName('k\u200b1')).toBe('k\\u{200b}1');
    expect(printableName('k '.repeat(200))).toHaveLength(200);
  });

  it.each([
    ['${jndi:ldap://evil.example/x}', '(29 characters that make no name)'],
    ['<script>alert(1)</script>', '(25 characters that make no name)'],
    ['somebody@corp', '(13 characters that make no name)'],
    ['eyAiYWxnIjoiRVMyNTYifQ.eyAiaXNzIjoiYSJ9.c2ln', '(not shown: it looks like a token)'],
    [undefined, 'nothing'],
  ])('%j is not shown: %s', (value, shown) => expect(printableName(value)).toBe(shown));
});

describe('[D77] a list', () => {
  it('is shown with commas between its values', () => {
    expect(printableList(new Set(['global:member', 'global:admin']))).toBe('global:member, global:admin');
    expect(printableList([])).toBe('none');
    expect(printableList(['one', 'a@b.example'])).toBe('one, (not shown: it looks like an e-mail address)');
  });

  it('reports the number of omitted values if it is long', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `role-${index}`);
    expect(printableList(many)).toMatch(/^role-0, role-1, .* and 9\d\d more$/);
    expect([...printableList(many)].length).toBeLessThanOrEqual(200);
    expect([...printableList(['a b '.repeat(200), 'c'])]).toHaveLength(200);
  });
});

it.each([
  [125.4, '125 s'],
  [9.87654, '9.877 s'],
  [0.0004, '0 s'],
  [3, '3 s'],
])('[D77] %d seconds are reported as %s', (seconds, text) => expect(printableSeconds(seconds)).toBe(text));
