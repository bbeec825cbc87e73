// Explains tokens to tests as commands do it: by what a service was started with, and on its database.
import { explainerOf } from '../../src/instance/instance-explainer.js';
import { trustedKeysRules } from '../../src/instance/startup.js';
import { explanationRules } from '../../src/instance/token-exchange-settings.js';
import { Database } from '../../src/platform/database/database.js';
import type {
  ExplanationRequest,
  TokenExplanation,
} from '../../src/token-exchange/explain/token-explanation.js';
import { Clock } from '../../src/platform/clock.js';
import { JwksSnapshotRepository } from '../../src/token-exchange/trust/jwks/jwks-snapshot.repository.js';
import { StoredEntryChanges } from '../../src/token-exchange/trust/stored/stored-entry.changes.js';
import { StoredEntryRepository } from '../../src/token-exchange/trust/stored/stored-entry.repository.js';
import { RevocationRepository } from '../../src/token-exchange/revocation/revocation.repository.js';
import { UserRepository } from '../../src/users/user.repository.js';
import type { EntryPath } from './entry-paths.js';
import type { TestService } from './test-service.js';

export function explain(service: TestService, request: ExplanationRequest): Promise<TokenExplanation> {
  const { startup } = service;
  const clock = service.part(Clock);
  const rules = { configured: startup.trustedKeys, rules: trustedKeysRules(startup.config) };
  const parts = {
    users: service.part(UserRepository),
    keySets: service.part(JwksSnapshotRepository),
    revocations: service.part(RevocationRepository),
    storedEntries: new StoredEntryChanges(service.part(StoredEntryRepository), rules),
  };
  const explainer = explainerOf(() => Promise.resolve(explanationRules(startup, clock)));
  return explainer(parts, service.part(Database), clock)(request);
}

/** What a way in makes of a token and, where there is one, of its companion. */
export function requestBy(
  { flow, name, party }: EntryPath,
  token: string,
  companion: string,
): ExplanationRequest {
  if (flow === 'embed' || name === 'exchange subject') return { flow, token };
  return party === 'actor'
    ? { flow, token: companion, actorToken: token }
    : { flow, token, actorToken: companion };
}
