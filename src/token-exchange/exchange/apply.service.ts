// `apply`: one transaction for a request that changes users, links or memberships, or takes a closer look at sessions. It never
// touches replay records, and may be run again.
import { Injectable } from '@nestjs/common';
import type { AuditContext, AuditEvent, RecordedWork } from '../audit/audit.bus.js';
import { AuditBus, auditEvent } from '../audit/audit.bus.js';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { poolState } from '../../platform/database/driver-pool.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { DatabaseWaitError } from '../../platform/database/database-error.js';
import { MOST_WAITING } from '../../platform/database/wait-limit.js';
import type { Users, IdentityChange, ResolvedUser } from '../identity/decide.js';
import { idsOf } from '../identity/decide.js';
import { IdentityService } from '../identity/identity.service.js';
import type { Tokens } from '../verify/tokens.js';
import type { FlowRequest } from '../endpoint/flow-request.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';

/** Connections of the pool that are left to the statements that requests share. */
const LEFT_TO_OTHERS = 2;

/** Does the last of a request, with its users. Its events come after those of the users. */
export type Finish<Result> = (transaction: Transaction, users: Users) => Promise<RecordedWork<Result>>;

export interface Applied<Result> {
  readonly users: Users;
  readonly result: Result;
}

@Injectable()
export class ApplyService {
  private readonly turns: Turns;

  constructor(
    private readonly identities: IdentityService,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
    { dataSource }: Database,
  ) {
    this.turns = new Turns(Math.max(1, poolState(dataSource).most - LEFT_TO_OTHERS));
  }

  /**
   * Decides on rows under lock, writes, and records what has happened: all of it, or nothing.
   * @throws OAuthRefusal of the decision, or of `finish`
   */
  apply<Result>(tokens: Tokens, request: FlowRequest, finish: Finish<Result>): Promise<Applied<Result>> {
    const work = async (transaction: Transaction) => {
      const users = await this.identities.resolve(transaction, tokens);
      const { result, events } = await finish(transaction, users);
      return { result: { users, result }, events: [...this.changes(tokens, users, request), ...events] };
    };
    request.giveUpPlace();
    return request.stage('apply', () => this.turns.take(request.deadlineMs, () => this.audit.commit(work)));
  }

  private changes({ subject, actor }: Tokens, users: Users, { requestId }: FlowRequest): AuditEvent[] {
    const context = { occurredAt: this.clock.now(), requestId, ...idsOf(users) };
    return [
      ...identityEvents(context, subject, users.subject),
      ...(actor && users.actor ? identityEvents(context, actor, users.actor) : []),
    ];
  }
}

/**
 * Lets so many pieces of work run at a time, so that a rush of first logins leaves connections to known users. The others wait in
 * their order.
 */
export class Turns {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly most: number) {}

  /**
   * @param deadlineMs on the monotonic clock: work whose turn comes later is not begun
   * @throws DatabaseWaitError `time_limit`, `pool_exhausted` where too many wait, or what the work throws
   */
  async take<T>(deadlineMs: number, work: () => Promise<T>): Promise<T> {
    // At a host that does not limit its pool, a database that hangs gives no turn back.
    if (this.waiting.length >= MOST_WAITING) throw new DatabaseWaitError('pool_exhausted');
    if (this.running === this.most) await new Promise<void>((begin) => this.waiting.push(begin));
    else this.running += 1;
    try {
      if (performance.now() > deadlineMs) throw new DatabaseWaitError('time_limit');
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}

export function identityEvents(
  context: AuditContext,
  token: VerifiedToken,
  resolved: ResolvedUser,
): AuditEvent[] {
  const { issuer } = token.key.policy;
  return resolved.changes.flatMap((change) => {
    if (change.kind === 'identity-linked') return linkEvents(context, issuer, change);
    const { kind, ...payload } = change;
    return auditEvent(`svc.audit.token-exchange.${kind}`, context, { issuer, ...payload });
  });
}

/**
 * @rule D54 A link to an administrator has an event of its own, and a warning.
 * See policy-checks.ts for the entries that may, and notices.ts for the log.
 */
function linkEvents(
  context: AuditContext,
  issuer: string,
  { userId, role, isPrivileged }: Extract<IdentityChange, { kind: 'identity-linked' }>,
): AuditEvent[] {
  const linked = auditEvent('svc.audit.token-exchange.identity-linked', context, { issuer, userId });
  if (!isPrivileged) return [linked];
  const payload = { issuer, userId, role };
  return [linked, auditEvent('svc.audit.token-exchange.privileged-identity-linked', context, payload)];
}
