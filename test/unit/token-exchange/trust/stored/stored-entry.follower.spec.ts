// That the whole of a change counts at once.
import { Partner } from '../../../../../demo/partner.js';
import { SoleProcessNotifications } from '../../../../../src/platform/jobs/notifications.js';
import { SILENT } from '../../../../../src/platform/log/log.js';
import type { JwksKeyProvider } from '../../../../../src/token-exchange/trust/jwks/jwks-key.provider.js';
import type { ClientKeyProvider } from '../../../../../src/token-exchange/trust/lookup/client-keys.js';
import { StaticKeyProvider } from '../../../../../src/token-exchange/trust/lookup/static-key.provider.js';
import { StoredEntryFollower } from '../../../../../src/token-exchange/trust/stored/stored-entry.follower.js';
import type { StoredEntryRepository } from '../../../../../src/token-exchange/trust/stored/stored-entry.repository.js';

const entry = Partner.create({ issuer: 'https://a.example', kid: 'k' }).staticEntry({ name: 'a' });

it('[D72] a change counts for issuers and clients in one turn, however long their stored key sets take', async () => {
  const at = new Date();
  const row = { name: 'a', text: JSON.stringify(entry), isOwners: true, createdAt: at, changedAt: at };
  const repository = { state: () => Promise.resolve('1'), all: () => Promise.resolve([row]) };
  const took: string[] = [];
  const keySets = (whose: string) => ({
    replaceStored: () => {
      took.push(whose);
      return new Promise<never>(() => undefined);
    },
  });
  const staticKeys = new StaticKeyProvider({ trustedKeys: [] });
  const follower = new StoredEntryFollower(
    repository as unknown as StoredEntryRepository,
    staticKeys,
    keySets('of issuers') as unknown as JwksKeyProvider,
    keySets('of clients') as unknown as ClientKeyProvider,
    new SoleProcessNotifications(),
    { configured: [], rules: { assignableRoles: ['global:member'], allowHttp: false } },
    SILENT,
  );
  void follower.follow();
  await new Promise(setImmediate);
  expect(staticKeys.find('https://a.example', 'k')).toBeDefined();
  expect(took).toEqual(['of issuers', 'of clients']);
});
