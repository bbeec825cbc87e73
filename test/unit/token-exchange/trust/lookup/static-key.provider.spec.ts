// How the keys of the configuration are found.
import { Partner } from '../../../../../demo/partner.js';
import { StaticKeyProvider } from '../../../../../src/token-exchange/trust/lookup/static-key.provider.js';
import { readStoredEntry } from '../../../../../src/token-exchange/trust/stored/stored-entry.reader.js';
import { readTrustedKeys } from '../../../../../src/token-exchange/trust/trusted-key-entry.js';

const pem = Partner.create({ issuer: 'https://a.example' }).publicKeyPem();

/** A provider of keys by issuer and kid; each has an audience of its own by which the test knows it. */
function provider(...pairs: [issuer: string, kid: string][]): StaticKeyProvider {
  const entries = pairs.map(([issuer, kid]) => ({
    ...{ type: 'static', issuer, kid, algorithms: ['ES256'], key: pem },
    expectedAudience: JSON.stringify([issuer, kid]),
  }));
  const rules = { assignableRoles: [], allowHttp: false };
  const { entries: trustedKeys, problems } = readTrustedKeys(JSON.stringify(entries), rules);
  expect(problems).toEqual([]);
  return new StaticKeyProvider({ trustedKeys });
}

describe.each<[string, [string, string][]]>([
  [
    'two issuers with one kid',
    [
      ['https://a.example', 'k1'],
      ['https://b.example', 'k1'],
    ],
  ],
  [
    'one issuer with two kids',
    [
      ['https://a.example', 'k1'],
      ['https://a.example', 'k2'],
    ],
  ],
  [
    'pairs that are one when joined by a colon',
    [
      ['urn:a', 'b:c'],
      ['urn:a:b', 'c'],
    ],
  ],
  [
    'pairs that are one when joined by a slash',
    [
      ['https://a.example', 'b/c'],
      ['https://a.example/b', 'c'],
    ],
  ],
  [
    'pairs that are one when joined by a space',
    [
      ['urn:a', 'b c'],
      ['urn:a b', 'c'],
    ],
  ],
  [
    'pairs that are one when joined by a bar',
    [
      ['urn:a', 'b|c'],
      ['urn:a|b', 'c'],
    ],
  ],
  [
    'pairs that are one when joined by nothing',
    [
      ['urn:a', 'bc'],
      ['urn:ab', 'c'],
    ],
  ],
  [
    'pairs that are one when joined by a comma or quotes',
    [
      ['urn:a', 'b","c'],
      ['urn:a","b', 'c'],
    ],
  ],
  [
    'kids that differ by case',
    [
      ['https://a.example', 'K1'],
      ['https://a.example', 'k1'],
    ],
  ],
  [
    'kids that are one in NFC',
    [
      ['https://a.example', 'é'],
      ['https://a.example', 'e\u0301'],
    ],
  ],
  [
    'issuers that differ by a slash',
    [
      ['https://a.example', 'k1'],
      ['https://a.example/', 'k1'],
    ],
  ],
  [
    'issuers that are one URL',
    [
      ['https://a.example', 'k1'],
      ['https://A.example:443', 'k1'],
    ],
  ],
  [
    'names of object members',
    [
      ['urn:__proto__', '__proto__'],
      ['urn:__proto__', 'constructor'],
    ],
  ],
])('%s', (_, pairs) => {
  const keys = provider(...pairs);

  it.each(pairs)('[D37] %s and %s find their own key', (issuer, kid) => {
    const { kid: found, policy } = keys.find(issuer, kid) ?? {};
    expect([policy?.issuer, found, policy?.expectedAudience]).toEqual([
      issuer,
      kid,
      JSON.stringify([issuer, kid]),
    ]);
  });
});

it.each([
  ['https://a.example', 'k2'],
  ['https://b.example', 'k1'],
  ['https://a.example/', 'k1'],
  ['https://A.example', 'k1'],
  ['k1', 'https://a.example'],
  ['https://a.example', ''],
  ['', 'k1'],
  ['https://a.example', 'K1'],
  ['https://a.example', 'k1 '],
  ['__proto__', 'constructor'],
  ['https://a.example', 'constructor'],
])('[5.2.1] %j and %j find nothing where only another pair is held', (issuer, kid) => {
  expect(provider(['https://a.example', 'k1']).find(issuer, kid)).toBeUndefined();
});

it('[D37] several entries may share an issuer', () => {
  const keys = provider(
    ['https://a.example', 'k1'],
    ['https://a.example', 'k2'],
    ['https://b.example', 'k1'],
  );
  expect(keys.held().map(({ issuer, count }) => [issuer, count])).toEqual([
    ['https://a.example', 1],
    ['https://a.example', 1],
    ['https://b.example', 1],
  ]);
});

it('[D70] stored entries come and go beside the configured ones; suspended ones are found and not counted', () => {
  const keys = provider(['https://a.example', 'k1']);
  const entry = { type: 'static', issuer: 'https://a.example', algorithms: ['ES256'], key: pem };
  const rules = { assignableRoles: [], allowHttp: false };
  const stored = ['k2', 'k3'].map((kid) => readStoredEntry({ ...entry, kid, name: kid }, rules).entry);
  const [second, third] = stored.filter((one) => one?.type === 'static');
  keys.replaceStored([second!, { ...third!, suspended: true }]);
  expect(keys.find('https://a.example', 'k1')?.policy.label).toBe('entry-0');
  expect(keys.find('https://a.example', 'k2')?.policy.label).toBe('stored:k2');
  expect(keys.find('https://a.example', 'k3')).toBeDefined();
  expect(keys.held().map(({ entry: label, count }) => [label, count])).toEqual([
    ['entry-0', 1],
    ['stored:k2', 1],
    ['stored:k3', 0],
  ]);
  keys.replaceStored([]);
  expect(keys.find('https://a.example', 'k2')).toBeUndefined();
  expect(keys.find('https://a.example', 'k1')).toBeDefined();
});
