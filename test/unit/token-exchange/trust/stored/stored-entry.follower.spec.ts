// That the whole of a change counts at once.
import { Partner } from '../../../../../demo/partner.js';
import { SoleProcessNotifications } from '../../../../../src/platform/jobs/notifications.js';
import { SILENT } from '../../../../../src/platform/log/log.js';
import type { JwksKeyProvider } from '../../../../../src/token-exchange/trust/jwks/jwks-key.provider.js';
import { StaticKeyProvider } from '../../../../../src/token-exchange/trust/lookup/static-key.provider.js';
import { StoredEntryFollower } from '../../../../../src/token-exchange/trust/stored/stored-entry.follower.js';
import type { StoredEntryRepository } from '../../../../../src/token-exchange/trust/stored/stored-entry.repository.js';

const jwksUrl = 'https://client.example/jwks.json';
const entry = Partner.create({ issuer: 'https://a.example', kid: 'k' }).staticEntry({
  ...{ name: 'a', flows: ['id-jag'], scopes: ['workflow:read'] },
  clients: [{ id: 'x', jwksUrl }],
});

it('[D72] a change counts for issuers and clients in one turn, however long their stored key sets take', async () => {
  const at = new Date();
  const row = { name: 'a', text: JSON.stringify(entry), isOwners: true, createdAt: at, changedAt: at };
  const repository = { state: () => Promise.resolve('1'), all: () => Promise.resolve([row]) };
  const took: string[] = [];
  const keySets = (whose: string) => ({
    replaceStored: (entries: readonly { url: string }[]) => {
      took.push(...[whose, ...entries.map(({ url }) => url)]);
      return new Promise<never>(() => undefined);
    },
  });
  const [jwks, ofClients] = ['of issuers', 'of clients'].map(keySets) as unknown as JwksKeyProvider[];
  const staticKeys = new StaticKeyProvider({ trustedKeys: [] });
  const follower = new StoredEntryFollower(
    repository as unknown as StoredEntryRepository,
    staticKeys,
    jwks!,
    ofClients!,
    new SoleProcessNotifications(),
    { configured: [], rules: { assignableRoles: ['global:member'], allowHttp: false } },
    SILENT,
  );
  void follower.follow();
  await new Promise(setImmediate);
  expect(staticKeys.find('https://a.example', 'k')).toBeDefined();
  expect(took).toEqual(['of issuers', 'of clients', jwksUrl]);
});
