// The commit statement of an instance, as tests ask it without a service.
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { AuditTrailRepository } from '../../src/audit/audit-trail.repository.js';
import { USER_TABLE } from '../../src/instance/token-exchange-settings.js';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { SILENT } from '../../src/platform/log/log.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import { AuditBus } from '../../src/token-exchange/audit/audit.bus.js';
import { Database } from '../../src/platform/database/database.js';
import { auditEvent } from '../../src/token-exchange/audit/audit-event.js';
import type { DecidedRequest } from '../../src/token-exchange/flows/commit.repository.js';
import { CommitRepository } from '../../src/token-exchange/flows/commit.repository.js';
import type { TokenUse } from '../../src/token-exchange/replay/token-use.js';
import type { KnownUser } from '../../src/token-exchange/users/known-users.js';

/** Of a host that names its table of users, or of one that does not. */
export function commitsOn(dataSource: DataSource, userTable = true): CommitRepository {
  const database = new Database(dataSource);
  const options = userTable ? { userTable: USER_TABLE } : {};
  return new CommitRepository(database, new AuditTrailRepository(database), options);
}

export function auditBusOn(dataSource: DataSource): AuditBus {
  const database = new Database(dataSource);
  const trail = new AuditTrailRepository(database);
  return new AuditBus(trail, new Transactions(database), new EventEmitter2(), SILENT);
}

/** Uses ids up, and nothing else. @returns whether all of them were new */
export async function areNew(commits: CommitRepository, uses: readonly TokenUse[]): Promise<boolean> {
  return (await commits.commit({ uses, decided: undefined })) !== 'replayed';
}

/** What is written of an exchange whose users are as they are known. */
export function decidedOn(
  subject: readonly [sub: string, user: KnownUser],
  actor?: typeof subject,
): DecidedRequest {
  const decidedUser = ([sub, { id, version }]: typeof subject) => ({
    identity: { issuer: 'https://partner.example', subject: sub },
    userId: id,
    version,
  });
  const context = {
    occurredAt: new Date(),
    requestId: randomUUID(),
    subjectUserId: subject[1].id,
    actorUserId: actor?.[1].id,
  };
  const event = auditEvent('svc.audit.token-exchange.succeeded', context, {
    issuer: 'https://partner.example',
    kid: 'kid',
    accessTokenId: randomUUID(),
    lifetimeSeconds: 60,
  });
  return { users: { subject: decidedUser(subject), actor: actor && decidedUser(actor) }, event };
}
