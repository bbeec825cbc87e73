// How the keys of the configuration are found, and which entry's key is used if several have one for the same issuer and kid.
import { Partner } from '../../../../../demo/partner.js';
import type { JwksKeyProvider } from '../../../../../src/token-exchange/trust/jwks/jwks-key.provider.js';
import {
  StaticKeyProvider,
  TrustedKeyService,
} from '../../../../../src/token-exchange/trust/lookup/trusted-key.service.js';
import { readStoredEntry } from '../../../../../src/token-exchange/trust/stored/stored-entry.js';
import type {
  StaticKeyEntry,
  TrustedKey,
  TrustedKeyEntry,
} from '../../../../../src/token-exchange/trust/trusted-key.js';
import { readTrustedKeys } from '../../../../../src/token-exchange/trust/trusted-key-entry.js';

const issuer = 'https://a.example';
const RULES = { assignableRoles: ['global:member'], allowHttp: false };

function entry(): StaticKeyEntry {
  const text = JSON.stringify([Partner.create({ issuer, kid: 'k' }).staticEntry()]);
  return asStatic(readTrustedKeys(text, RULES).entries[0]);
}

function storedEntry(): StaticKeyEntry {
  const value = Partner.create({ issuer, kid: 'k' }).staticEntry({ name: 'stored' });
  return asStatic(readStoredEntry(value, RULES).entry);
}

function asStatic(read: TrustedKeyEntry | undefined): StaticKeyEntry {
  if (read?.type !== 'static') throw new Error('not a static entry');
  return read;
}

describe('[D70] if a configured and a stored entry have the same issuer and kid', () => {
  /** Key sets with these keys. Fetching is not tested here. */
  const fetched = (configured: TrustedKey | undefined, any = configured) =>
    ({
      find: () => [any].flat(),
      findConfigured: () => [configured ?? []].flat(),
      entries: [],
    }) as unknown as JwksKeyProvider;
  const serviceOf = (
    jwks: JwksKeyProvider,
    configured: readonly StaticKeyEntry[],
    stored: readonly StaticKeyEntry[],
  ) => {
    const staticKeys = new StaticKeyProvider({ trustedKeys: configured });
    staticKeys.replaceStored(stored);
    return new TrustedKeyService(staticKeys, jwks);
  };

  it('the configured one is used, even if its key is fetched', async () => {
    const [ofSet, stored] = [entry(), storedEntry()];
    expect(await serviceOf(fetched(ofSet.key), [], [stored]).find(issuer, 'k', 'ES256')).toEqual([ofSet.key]);
  });

  it('the stored one is used if no configured one has the key', async () => {
    const [stored, other] = [storedEntry(), entry()];
    expect(await serviceOf(fetched(undefined, other.key), [], [stored]).find(issuer, 'k', 'ES256')).toEqual([
      stored.key,
    ]);
  });

  it('[D37] a configured static key takes precedence over a fetched one', async () => {
    const [held, ofSet] = [entry(), entry()];
    expect(await serviceOf(fetched(ofSet.key), [held], []).find(issuer, 'k', 'ES256')).toEqual([held.key]);
  });
});

const pem = Partner.create({ issuer }).publicKeyPem();

const A_K1: [string, string] = [issuer, 'k1'];

/** A provider of keys by issuer and kid; each has an audience of its own by which the test knows it. */
function provider(...pairs: [issuer: string, kid: string][]): StaticKeyProvider {
  const entries = pairs.map(([from, kid]) => ({
    ...{ type: 'static', issuer: from, kid, algorithms: ['ES256'], key: pem },
    expectedAudience: JSON.stringify([from, kid]),
  }));
  const { entries: trustedKeys, problems } = readTrustedKeys(JSON.stringify(entries), RULES);
  expect(problems).toEqual([]);
  return new StaticKeyProvider({ trustedKeys });
}

it.each<[string, [string, string][]]>([
  ['one issuer with two kids', [A_K1, [issuer, 'k2']]],
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
  const found = pairs.map((pair) => keys.find(...pair)?.policy.expectedAudience);
  expect(found).toEqual(pairs.map((pair) => JSON.stringify(pair)));
});

it('[D70] stored entries are added to and removed from the configured ones; suspended ones are found but not counted', () => {
  const keys = provider(A_K1);
  const given = { type: 'static', issuer, algorithms: ['ES256'], key: pem };
  const stored = ['k2', 'k3'].map((kid) => readStoredEntry({ ...given, kid, name: kid }, RULES).entry);
  const [second, third] = stored.filter((one) => one?.type === 'static');
  keys.replaceStored([second!, { ...third!, suspended: true }]);
  expect(keys.find(issuer, 'k1')?.policy.label).toBe('entry-0');
  expect(keys.find(issuer, 'k2')?.policy.label).toBe('stored:k2');
  expect(keys.find(issuer, 'k3')).toBeDefined();
  expect(keys.held().map(({ entry: label, count }) => [label, count])).toEqual([
    ['entry-0', 1],
    ['stored:k2', 1],
    ['stored:k3', 0],
  ]);
  keys.replaceStored([]);
  expect(keys.find(issuer, 'k2')).toBeUndefined();
  expect(keys.find(issuer, 'k1')).toBeDefined();
});
