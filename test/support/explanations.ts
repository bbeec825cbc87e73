// Explains tokens to tests as commands do it: by what a service was started with, and on its database.
import { InstanceExplainer } from '../../src/administration/explain/explain-token.operation.js';
import type { AdministrationSettings } from '../../src/administration/operation.js';
import { trustedKeysRules } from '../../src/instance/prepare-startup.js';
import { explanationRules, USER_TABLE } from '../../src/instance/token-exchange-settings.js';
import { Clock } from '../../src/platform/clock.js';
import { Database } from '../../src/platform/database/database.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import type {
  ExplanationRequest,
  TokenExplanation,
} from '../../src/token-exchange/explain/token-explanation.js';
import { IdentityLinkRepository } from '../../src/token-exchange/identity/identity-link.repository.js';
import { SeatRepository } from '../../src/token-exchange/identity/seat.repository.js';
import { JtiRepository } from '../../src/token-exchange/replay/jti.repository.js';
import { RevocationRepository } from '../../src/token-exchange/revocation/revocation.repository.js';
import { JwksSnapshotRepository } from '../../src/token-exchange/trust/jwks/jwks-snapshot.repository.js';
import { StoredEntryChanges } from '../../src/token-exchange/trust/stored/stored-entry.changes.js';
import { StoredEntryRepository } from '../../src/token-exchange/trust/stored/stored-entry.repository.js';
import { InstanceUsers } from '../../src/users/users.module.js';
import { InstanceProjects } from '../../src/workspace/projects/instance-projects.js';
import type { EntryPath } from './entry-paths.js';
import type { TestService } from './test-service.js';

export function explain(service: TestService, request: ExplanationRequest): Promise<TokenExplanation> {
  const { startup } = service;
  const clock = service.part(Clock);
  const database = service.part(Database);
  const trust = { configured: startup.trustedKeys, rules: trustedKeysRules(startup.config) };
  const settings: AdministrationSettings = {
    trust,
    configuredIn: '',
    transmitters: [],
    explanationRules: () => Promise.resolve(explanationRules(startup, clock)),
  };
  return new InstanceExplainer(
    settings,
    new StoredEntryChanges(service.part(StoredEntryRepository), () => trust),
    new Transactions(database),
    service.part(JwksSnapshotRepository),
    service.part(RevocationRepository),
    new JtiRepository(database),
    new IdentityLinkRepository(),
    service.part(InstanceUsers),
    new InstanceProjects(),
    new SeatRepository({ userTable: USER_TABLE }),
    clock,
  ).explain(request);
}

/** The request that an entry path makes from a token and its companion, if there is one. */
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
