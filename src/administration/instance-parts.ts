// The parts of the instance that administrative operations use, also in a process with only the database.
import { AuditTrailReader } from '../audit/audit-trail.reader.js';
import type { PersonHashes } from '../audit/person-hashes.js';
import { OperatorAccountRepository } from './accounts/operator-account.repository.js';
import { OperatorSessionRepository } from './accounts/operator-session.repository.js';
import { UserProfileRepository } from './accounts/user-profile.repository.js';
import type { Database } from '../platform/database/database.js';
import type {
  CheckedStoredEntry,
  StoredEntriesRules,
  ExplanationRequest,
  TokenExplanation,
} from '../token-exchange/instance.js';
import {
  JwksSnapshotRepository,
  RevocationRepository,
  SessionRepository,
  StoredEntryChanges,
  StoredEntryRepository,
} from '../token-exchange/instance.js';
import type { Clock } from '../platform/clock.js';
import { UserRepository } from '../users/user.repository.js';
import { ProjectRepository } from '../workspace/projects/project.repository.js';
import { Quotas } from '../workspace/quotas/quotas.js';
import type { QuotaLimits } from '../workspace/quotas/quotas.js';
import { WorkflowRepository } from '../workspace/workflows/workflow.repository.js';

export interface InstanceParts {
  readonly users: UserRepository;
  readonly projects: ProjectRepository;
  readonly workflows: WorkflowRepository;
  readonly quotas: Quotas;
  readonly keySets: JwksSnapshotRepository;
  readonly clock: Clock;
  readonly storedEntries: StoredEntryChanges;
  /** The variable, and the file, in which the configured entries are. */
  readonly configuredIn: string;
  readonly sessions: SessionRepository;
  readonly operatorAccounts: OperatorAccountRepository;
  readonly operatorSessions: OperatorSessionRepository;
  readonly userProfiles: UserProfileRepository;
  readonly revocations: RevocationRepository;
  readonly trail: AuditTrailReader;
  readonly personHashes: PersonHashes;
  /** Lets this process read what was revoked. Never rejects. */
  readonly learnRevocations: () => Promise<void>;
  /** @param alsoTrusted entries that are taken for stored ones */
  readonly explain: (
    request: ExplanationRequest,
    alsoTrusted?: readonly CheckedStoredEntry[],
  ) => Promise<TokenExplanation>;
}

/** Creates the explainer of tokens, with the settings and ports of the host. */
type ExplainerOf = (
  parts: Pick<InstanceParts, 'users' | 'keySets' | 'revocations' | 'storedEntries'>,
  database: Database,
  clock: Clock,
) => InstanceParts['explain'];

/** What the parts need beside the database. */
export interface InstanceSettings {
  /** The configured entries and their rules. */
  readonly trust: StoredEntriesRules;
  /** The variable, and the file, in which they are. */
  readonly configuredIn: string;
  readonly limits: QuotaLimits;
  readonly personHashes: PersonHashes;
  readonly explain: ExplainerOf;
}

/** What the running service has beside. */
interface ServiceParts {
  /** Its limits hold for what the operator's page asks. */
  readonly operatorDatabase: Database;
  readonly learnRevocations: InstanceParts['learnRevocations'];
}

/**
 * @param settings are looked at when they are asked for: other commands need no configured keys
 * @param service left out: the process answers no requests, and notifies services on the same database
 */
export function instancePartsOn(
  database: Database,
  settings: InstanceSettings,
  clock: Clock,
  service?: ServiceParts,
): InstanceParts {
  const { dataSource } = database;
  const { operatorDatabase = database, learnRevocations = () => Promise.resolve() } = service ?? {};
  const users = new UserRepository(dataSource);
  const parts: InstanceParts = {
    users,
    projects: new ProjectRepository(dataSource),
    workflows: new WorkflowRepository(dataSource),
    get quotas() {
      return new Quotas(settings.limits);
    },
    keySets: new JwksSnapshotRepository(database),
    clock,
    get storedEntries() {
      return new StoredEntryChanges(new StoredEntryRepository(database), settings.trust);
    },
    get configuredIn() {
      return settings.configuredIn;
    },
    sessions: new SessionRepository(database),
    operatorAccounts: new OperatorAccountRepository(operatorDatabase),
    operatorSessions: new OperatorSessionRepository(operatorDatabase),
    userProfiles: new UserProfileRepository(operatorDatabase),
    revocations: new RevocationRepository(database),
    trail: new AuditTrailReader(operatorDatabase),
    get personHashes() {
      return settings.personHashes;
    },
    learnRevocations,
    explain: (...asked) => settings.explain(parts, database, clock)(...asked),
  };
  return parts;
}
