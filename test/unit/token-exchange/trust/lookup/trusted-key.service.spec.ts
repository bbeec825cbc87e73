// Which entry's key is used if several entries have one for the same issuer and kid.
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
