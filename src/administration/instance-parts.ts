// What administrative operations use of the instance, and how a process that has nothing but the database makes it.
import { AuditTrailFollower } from '../audit/audit-trail.follower.js';
import { AuditTrailReader } from '../audit/audit-trail.reader.js';
import type { OpenDatabase } from '../database/data-source.js';
import { Database } from '../token-exchange/database/database.js';
import { JwksSnapshotRepository } from '../token-exchange/keys/jwks/jwks-snapshot.repository.js';
import type { StoredEntriesRules } from '../token-exchange/keys/stored/stored-entries.judgement.js';
import { StoredEntryChanges } from '../token-exchange/keys/stored/stored-entry.changes.js';
import { StoredEntryRepository } from '../token-exchange/keys/stored/stored-entry.repository.js';
import { RevocationRepository } from '../token-exchange/revocation/revocation.repository.js';
import { SessionRepository } from '../token-exchange/sessions/session.repository.js';
import { User, UserRepository } from '../users/user.repository.js';
import { UserService } from '../users/user.service.js';
import { ProjectRepository } from '../workspace/projects/project.repository.js';
import { Workflow, WorkflowRepository } from '../workspace/workflows/workflow.repository.js';

/** The running service has these already; see administration.module.ts. */
export interface InstanceParts {
  readonly users: UserRepository;
  readonly userService: UserService;
  readonly projects: ProjectRepository;
  readonly workflows: WorkflowRepository;
  readonly keySets: JwksSnapshotRepository;
  readonly storedEntries: StoredEntryChanges;
  readonly sessions: SessionRepository;
  readonly revocations: RevocationRepository;
  readonly trail: AuditTrailReader;
  readonly trailFollower: AuditTrailFollower;
  /** Has this process read what was revoked. Never rejects. */
  readonly learnRevocations: () => Promise<void>;
}

/**
 * The parts on a database that no service has, or that several processes share.
 * @param trust tells the configured entries and their rules, if they are asked for: other commands need no configured keys
 */
export function instancePartsOn(
  { dataSource }: OpenDatabase,
  trust: () => StoredEntriesRules,
): InstanceParts {
  const database = new Database(dataSource);
  const users = new UserRepository(dataSource.getRepository(User));
  const projects = new ProjectRepository(dataSource);
  return {
    users,
    userService: new UserService(users, projects),
    projects,
    workflows: new WorkflowRepository(dataSource.getRepository(Workflow)),
    keySets: new JwksSnapshotRepository(database),
    get storedEntries() {
      return new StoredEntryChanges(new StoredEntryRepository(database), trust());
    },
    sessions: new SessionRepository(database),
    revocations: new RevocationRepository(database),
    trail: new AuditTrailReader(database),
    trailFollower: new AuditTrailFollower(database),
    // It answers no requests; services on the same database are told by it.
    learnRevocations: () => Promise.resolve(),
  };
}
