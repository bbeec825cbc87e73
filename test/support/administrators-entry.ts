// A stored entry that an administrator added, for tests without the operator's page.
import { StoredEntryFollower } from '../../src/token-exchange/trust/stored/stored-entry.follower.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import type { TestService } from './test-service.js';

export async function addAsAdministrator(service: TestService, entry: object): Promise<void> {
  const { name } = await service.part(StoredEntryService).add(entry);
  const update =
    'UPDATE token_exchange_stored_entry SET is_owners = false, revision = DEFAULT WHERE name = $1';
  await service.rows(update, [name]);
  await service.part(StoredEntryFollower).followNews();
}
