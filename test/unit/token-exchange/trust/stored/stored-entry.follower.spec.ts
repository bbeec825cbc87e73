// A change applies as a whole, and within a limited time without notifications.
import { Partner } from '../../../../../demo/partner.js';
import { Clock } from '../../../../../src/platform/clock.js';
import { SILENT } from '../../../../../src/platform/log/log.js';
import type { ClientKeyProvider } from '../../../../../src/token-exchange/assertions/client-keys.js';
import type { JwksService } from '../../../../../src/token-exchange/trust/jwks/jwks.service.js';
import type { JwksKeyProvider } from '../../../../../src/token-exchange/trust/jwks/jwks-key.provider.js';
import { StaticKeyProvider } from '../../../../../src/token-exchange/trust/lookup/trusted-key.service.js';
import { StoredEntryFollower } from '../../../../../src/token-exchange/trust/stored/stored-entry.follower.js';
import type { StoredEntryRepository } from '../../../../../src/token-exchange/trust/stored/stored-entry.repository.js';
import { DEAF } from '../../../../support/deaf-notifications.js';

const entry = Partner.create({ issuer: 'https://a.example', kid: 'k' }).staticEntry({ name: 'a' });
const at = new Date();
const row = {
  ...{ name: 'a', text: JSON.stringify(entry), isOwners: true },
  ...{ createdAt: at, changedAt: at, revision: '1' },
};

afterEach(() => jest.useRealTimers());

const followerOf = (
  repository: Pick<StoredEntryRepository, 'state' | 'all'>,
  staticKeys: StaticKeyProvider,
  replaced: (whose: string) => [],
  begin = () => Promise.resolve(),
) =>
  new StoredEntryFollower(
    repository as StoredEntryRepository,
    staticKeys,
    { replaceStored: () => replaced('of issuers') } as unknown as JwksKeyProvider,
    { replaceStored: () => replaced('of clients') } as unknown as ClientKeyProvider,
    { begin } as unknown as JwksService,
    DEAF,
    new Clock(),
    { configured: [], rules: { assignableRoles: ['global:member'], allowHttp: false } },
    SILENT,
  );

it('[D72] a change applies to issuers and clients together, however long their stored key sets take', async () => {
  const repository = { state: () => Promise.resolve('1'), all: () => Promise.resolve([row]) };
  const took: string[] = [];
  const staticKeys = new StaticKeyProvider({ trustedKeys: [] });
  const replaced = (whose: string): [] => {
    took.push(whose);
    return [];
  };
  const follower = followerOf(repository, staticKeys, replaced, () => new Promise<never>(() => undefined));
  void follower.followNews();
  await new Promise(setImmediate);
  expect(staticKeys.find('https://a.example', 'k')).toBeDefined();
  expect(took).toEqual(['of issuers', 'of clients']);
});

it('[D72] the known entries stay in use while the table cannot be read', async () => {
  const all = jest.fn(() => Promise.resolve([row]));
  const state = jest.fn(() => Promise.resolve('1'));
  const staticKeys = new StaticKeyProvider({ trustedKeys: [] });
  const follower = followerOf({ state, all }, staticKeys, () => []);
  await follower.followNews();
  for (const failing of [state, all]) {
    state.mockResolvedValueOnce('2');
    failing.mockReset().mockRejectedValueOnce(new Error('away'));
    await follower.followNews();
    expect(staticKeys.find('https://a.example', 'k')).toBeDefined();
  }
});

it('[D72] a change is looked for every three seconds, even without an announcement', async () => {
  jest.useFakeTimers();
  const state = jest.fn(() => Promise.resolve('1'));
  const repository = { state, all: () => Promise.resolve([]) };
  const follower = followerOf(repository, new StaticKeyProvider({ trustedKeys: [] }), () => []);
  await follower.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(2_999);
  expect(state).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(state).toHaveBeenCalledTimes(2);
});
