// How the keys of the configuration are found.
import { Partner } from '../../../../../demo/partner.js';
import { StaticKeyProvider } from '../../../../../src/token-exchange/trust/lookup/trusted-key.service.js';
import { readStoredEntry } from '../../../../../src/token-exchange/trust/stored/stored-entry.js';
import { readTrustedKeys } from '../../../../../src/token-exchange/trust/trusted-key-entry.js';

const pem = Partner.create({ issuer: 'https://a.example' }).publicKeyPem();

const A_K1: [string, string] = ['https://a.example', 'k1'];

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

it.each<[string, [string, string][]]>([
  ['one issuer with two kids', [A_K1, ['https://a.example', 'k2']]],
  ...[':', '/', ' ', '|', '', '","'].map((separator): [string, [string, string][]] => [
    `one when joined by ${JSON.stringify(separator)}`,
    [
      ['urn:a', `b${separator}c`],
      [`urn:a${separator}b`, 'c'],
    ],
  ]),
  ['issuers that are one URL', [A_K1, ['https://A.example:443/', 'k1']]],
  ['names of object members', [A_K1, ['urn:__proto__', '__proto__'], ['urn:__proto__', 'constructor']]],
])('[D37] each pair finds its own key: %s', (_, pairs) => {
  const keys = provider(...pairs);
  const found = pairs.map(([issuer, kid]) => keys.find(issuer, kid)?.policy.expectedAudience);
  expect(found).toEqual(pairs.map((pair) => JSON.stringify(pair)));
});

it('[D70] stored entries are added to and removed from the configured ones; suspended ones are found but not counted', () => {
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
