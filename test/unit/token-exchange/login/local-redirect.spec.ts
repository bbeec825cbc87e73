// The redirect after an embedded login, for any requested target.
import { localRedirect } from '../../../../src/token-exchange/login/local-redirect.js';
import { isMainScope } from '../../../support/series.js';
import { describeWithVectors } from '../../../support/vectors.js';

const INSTANCE = 'https://instance.example';
const locationFor = (target: string | undefined) => localRedirect(target).location;

/** Returns how a result could leave the instance, break a header, or change if it is checked again; otherwise undefined. */
function faultOf(target: string): string | undefined {
  const result = locationFor(target);
  const url = URL.canParse(result, INSTANCE) ? new URL(result, INSTANCE) : undefined;
  const faults = {
    'does not start with a single slash': !/^\/(?!\/)/.test(result),
    'is not printable ASCII': !/^[\x21-\x7e]+$/.test(result),
    'leaves the instance': url?.origin !== INSTANCE,
    'is not in WHATWG form': url?.href !== INSTANCE + result,
    'is not taken again': locationFor(result) !== result,
  };
  const fault = Object.entries(faults).find(([, isThere]) => isThere)?.[0];
  return fault && `${JSON.stringify(target).slice(0, 60)}: ${result.slice(0, 60)} ${fault}`;
}

const faultsOf = (targets: readonly string[]) => targets.map(faultOf).filter((fault) => fault !== undefined);

describe('a path on this instance', () => {
  it.each([
    ['/', '/'],
    ['/workflows', '/workflows'],
    ['/a/../b', '/b'],
    ['/a b', '/a%20b'],
    ['/a%2520b', '/a%2520b'],
    ['/größe', '/gr%C3%B6%C3%9Fe'],
    ['/日本/😀', '/%E6%97%A5%E6%9C%AC/%F0%9F%98%80'],
    ['/a//b', '/a//b'],
    ['/a%2Fb', '/a%2Fb'],
    ['/100%', '/100%'],
    ['/a?b=c&d', '/a?b=c&d'],
    ['/?q=ü#ü', '/?q=%C3%BC#%C3%BC'],
  ])('[4.1.2] is used in its WHATWG form: %s', (target, location) => {
    expect(locationFor(target)).toBe(location);
  });

  it.each([
    '/a?next=//evil.example',
    '/a?next=/\\evil.example',
    '/a?text=%0d%0a%00%09',
    '/a?text=%5c%2f%2f#%5c%0d',
    '/a#//evil.example',
    '/?',
    '/a?',
    '/a#',
  ])('[D24] keeps its query and fragment unchanged: %s', (target) =>
    expect(locationFor(target)).toBe(target),
  );
});

describe('anything else becomes /', () => {
  it.each([
    ...['', ' ', 'workflows', '../a', '?a', '#a', ' /a', '\t/a', '\\a', '.', '*', `${INSTANCE}/a`],
    ...['https://evil.example', 'https:evil.example', 'https:', 'JaVaScRiPt:alert(1)'],
  ])('[4.1.2] an invalid path: %j', (target) => expect(locationFor(target)).toBe('/'));

  it.each([
    '//evil.example',
    '////evil.example',
    '//',
    '/\\evil.example',
    '\\/evil.example',
    '//instance.example:1@evil.example',
    '/..//evil.example',
    '/a/%2e%2e//evil.example',
    '/%2fevil.example',
    '/%5c%5cevil.example',
    '/%25%32%66evil.example',
    '/%2%66evil.example',
    '/%2e%2e%2f%2fevil.example',
    '/a%5c..%5c%5cevil.example',
    `/%${'25'.repeat(40)}2fevil.example`,
  ])('[D24] another host: %j', (target) => expect(locationFor(target)).toBe('/'));

  it.each(['/\t/evil.example', '/a\r\nset-cookie: x', '/\0', '/a\u0085', '/a%C2%85b'])(
    '[D24] a control character, raw or percent-encoded: %j',
    (target) => expect(locationFor(target)).toBe('/'),
  );
});

describe('for every target', () => {
  const PIECES =
    '/ // \\ . .. %2f %2F %5c %252f %25 %2 % %2e %00 %0d %C2%85 @ : ? # ; a é 。 ／ ＼ evil.example https: [ ] " <'
      .split(' ')
      .concat(['\t', '\n', '\0', '\u0085', '\u2028', '\ud800', ' ']);
  const two = PIECES.flatMap((first) => PIECES.map((second) => first + second));

  it('[D24][K26] the browser stays on the instance: all targets of up to three parts after a slash', () => {
    const starts = isMainScope ? two.filter((_, index) => index % 5 === 0) : two;
    const three = starts.flatMap((start) => PIECES.map((piece) => start + piece));
    expect(faultsOf([...PIECES, ...two, ...three].map((rest) => `/${rest}`)).slice(0, 10)).toEqual([]);
  });

  it('[D24] the browser stays on the instance: all targets of up to two parts, alone and before a host', () => {
    const targets = [...PIECES, ...two];
    expect(faultsOf([...targets, ...targets.map((start) => `${start}evil.example/x`)]).slice(0, 10)).toEqual(
      [],
    );
  });

  it('[D24] the browser stays on the instance: every code unit in path, query and fragment', () => {
    // The first blocks contain all characters with a meaning in URLs. `npm run test:all` tries every code unit.
    const units = Array.from({ length: isMainScope ? 0x3100 : 0x10000 }, (_, code) =>
      String.fromCharCode(code),
    );
    const targets = units.flatMap((unit) => [`/${unit}evil.example`, `/a${unit}?${unit}#${unit}`]);
    expect(faultsOf(targets).slice(0, 10)).toEqual([]);
  });

  it.each([
    ['long', `/${'a'.repeat(4_000)}`],
    ['very long', `/${'a'.repeat(1_000_000)}`],
    ['very long and encoded', `/${'%25'.repeat(100_000)}2f`],
    ['full of dots', `/${'../'.repeat(100_000)}/evil.example`],
    ['full of slashes', '/'.repeat(1_000_000)],
    ['long beyond ASCII', `/${'ü'.repeat(1_500)}`],
  ])('[D24] the browser stays on the instance: a target %s', (_, target) =>
    expect(faultsOf([target])).toEqual([]),
  );
});

describeWithVectors('lists of known open redirects', 'payloadsallthethings', (vectors) => {
  it.each([
    ['Open-Redirect-payloads.txt', 200],
    ['open_redirect_wordlist.txt', 10],
    ['openredirects.txt', 50],
  ])('[D24][K26] no line of %s leads to another site, raw or after a path', (name, least) => {
    const lines = vectors.lines(`payloadsallthethings/${name}`);
    expect(lines.length).toBeGreaterThan(least);
    const targets = lines.flatMap((line) => [
      line,
      `/${line}`,
      `/a/..${line}`,
      `/a/${line}`,
      line.replace(/^\/+/, '/'),
    ]);
    expect(faultsOf(targets)).toEqual([]);
  });
});

it.each([
  ['https://elsewhere.example/x', 'an absolute address'],
  ['javascript:alert(1)', 'an absolute address'],
  ['workflows', 'no path'],
  ['?x=1', 'no path'],
  ['//elsewhere.example', 'another host'],
  ['/\\elsewhere.example', 'another host'],
  ['/%2f/elsewhere.example', 'another host'],
  ['/a%0d%0ab', 'control characters'],
  ['/a?b\tc', 'control characters'],
  [`/${'x'.repeat(4_096)}`, 'too many characters'],
  [`/${'é'.repeat(2_000)}`, 'too many characters'],
  ['/%252525252525252f', 'odd escapes'],
  ['/', undefined],
  ['/workflows?next=//x#y', undefined],
])('[D79] %.40j is reported by its kind: %s', (target, kind) => {
  expect(localRedirect(target).fault).toBe(kind);
  expect(locationFor(target) === '/' && target !== '/').toBe(kind !== undefined);
});
