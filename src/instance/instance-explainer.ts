// Makes what explains the tokens that this instance is sent.
import type {
  CheckedStoredEntry,
  JwksSnapshotRepository,
  RevocationRepository,
  ExplanationRequest,
  ExplanationRules,
  ExplanationSources,
  TokenExplanation,
} from '../token-exchange/instance.js';
import { IdentityLinkRepository, JtiRepository, TokenExplainer } from '../token-exchange/instance.js';
import type { Database } from '../platform/database/database.js';
import { Transactions } from '../platform/database/transaction.js';
import type { Clock } from '../platform/clock.js';
import { InstanceUsers } from '../users/instance-users.js';
import type { UserRepository } from '../users/user.repository.js';
import { InstanceProjects } from './instance-projects.js';

/** Of the instance. */
interface ExplainerParts {
  readonly users: UserRepository;
  readonly keySets: JwksSnapshotRepository;
  readonly revocations: RevocationRepository;
  /** To be read alone. */
  readonly storedEntries: { readonly list: ExplanationSources['storedEntries'] };
}

/** @param rules are asked for at each explanation */
export function explainerOf(rules: (clock: Clock) => Promise<ExplanationRules>) {
  return (parts: ExplainerParts, database: Database, clock: Clock) => {
    const { keySets, revocations, storedEntries } = parts;
    const sources = {
      ...{ keySets, revocations, clock },
      transactions: new Transactions(database),
      jtis: new JtiRepository(database),
      links: new IdentityLinkRepository(),
      users: new InstanceUsers(parts.users),
      projects: new InstanceProjects(),
    };
    return async (
      request: ExplanationRequest,
      alsoTrusted: readonly CheckedStoredEntry[] = [],
    ): Promise<TokenExplanation> => {
      const all = async () => [...(await storedEntries.list()), ...alsoTrusted];
      return new TokenExplainer(await rules(clock), { ...sources, storedEntries: all }).explain(request);
    };
  };
}
