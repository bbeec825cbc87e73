// `apply`: one transaction for a request that changes users, links or memberships, or whose session cannot be written by a shared
// statement. It never touches replay records, and may be run again. `provision`: a shared statement for a request that only
// creates its user, and perhaps a session.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { DatabaseWaitError, unavailabilityOf } from '../../platform/database/database-error.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { SharedWait } from '../../platform/database/wait-limit.js';
import { LONGEST_TURN_MS, MAX_WAITING } from '../../platform/database/wait-limit.js';
import type { AuditContext, AuditEvent, RecordedWork } from '../audit/audit-trail.js';
import { AuditBus, auditEvent } from '../audit/audit-trail.js';
import type { FlowRequest } from '../endpoint/flow.runner.js';
import type { IdentityChange, LinkedUsers, ResolvedUser, Users } from '../identity/decide.js';
import { identityOf, idsOf, provisionedUser } from '../identity/decide.js';
import { IdentityService } from '../identity/identity.service.js';
import { ProvisioningRepository } from '../identity/provisioning.repository.js';
import type { NewSession } from '../login/session.repository.js';
import type { Tokens, VerifiedToken } from '../verify/external-token.verifier.js';

/** Connections of the pool that are reserved for shared statements. */
const LEFT_TO_OTHERS = 2;

/** Finishes a request with its users. Its events come after the users' events. */
export type Finish<Result> = (transaction: Transaction, users: Users) => Promise<RecordedWork<Result>>;

/** What a request that creates its user adds to it. Its events come after the user's. */
export interface Provisioned<Result> extends RecordedWork<Result> {
  readonly session?: NewSession;
}

export interface Applied<Result> {
  readonly users: Users;
  readonly result: Result;
}

@Injectable()
export class ApplyService {
  private readonly turns: Turns;

  constructor(
    private readonly identities: IdentityService,
    private readonly provisioning: ProvisioningRepository,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
    { state, waitMs }: Database,
  ) {
    this.turns = new Turns(Math.max(1, state.most - LEFT_TO_OTHERS), waitMs);
  }

  /**
   * Decides on locked rows, writes, and records what has happened: all of it, or nothing.
   * @throws OAuthRefusal of the decision, or of `finish`
   */
  apply<Result>(tokens: Tokens, request: FlowRequest, finish: Finish<Result>): Promise<Applied<Result>> {
    const work = async (transaction: Transaction) => {
      const users = await this.identities.resolve(transaction, tokens);
      const { result, events } = await finish(transaction, users);
      return { result: { users, result }, events: [...this.changes(tokens, users, request), ...events] };
    };
    request.releaseSlot();
    return request.stage('apply', () => this.turns.take(request, () => this.audit.commit(work)));
  }

  /**
   * Creates the user of an unknown identity, opens a session for it, and records what has happened: all of it, or nothing.
   * @param finish undefined: it needs a transaction
   * @returns undefined if nothing was written, and `apply` must decide
   * @throws OAuthRefusal of `finish`
   */
  async provision<Result>(
    tokens: Tokens,
    linked: LinkedUsers,
    request: FlowRequest,
    finish: (users: Users) => Provisioned<Result> | undefined,
  ): Promise<Applied<Result> | undefined> {
    const newUser = this.identities.newUserOf(tokens, linked);
    const user = newUser && this.provisioning.planned(newUser);
    if (user === undefined) return undefined;
    const users = { subject: provisionedUser(user) };
    const finished = finish(users);
    if (finished === undefined) return undefined;
    const { result, session, events: own } = finished;
    const events = [...this.changes(tokens, users, request), ...own];
    const { byAdministrator = false } = tokens.subject.key.policy;
    const provisioning = { user, identity: identityOf(tokens.subject), byAdministrator, session, events };
    const isMade = await request.stage('record', () => this.provisioning.provision(provisioning));
    if (!isMade) return undefined;
    this.audit.publish(events);
    return { users, result };
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
 * Limits the transactions that run at a time, so that a rush of first logins leaves connections to known users. The others wait
 * in order. As long as the database answers earlier transactions, this wait is not limited by the wait for the database.
 */
export class Turns {
  private running = 0;
  private readonly waiting = new Set<() => void>();
  /** The time of the database's latest answer to a transaction, on the monotonic clock. */
  private answeredAtMs = Number.NEGATIVE_INFINITY;

  /** @param waitMs how long a transaction waits while the database answers no other */
  constructor(
    private readonly most: number,
    private readonly waitMs: number,
  ) {}

  /**
   * @param wait of the request
   * @throws DatabaseWaitError `time_limit` if its turn does not come, `pool_exhausted` if too many wait, or what the work throws
   */
  async take<T>(wait: SharedWait, work: () => Promise<T>): Promise<T> {
    // If a host does not limit its pool, turns are not released while the database hangs.
    if (this.waiting.size >= MAX_WAITING) throw new DatabaseWaitError('pool_exhausted');
    if (this.running === this.most) await this.turn(wait);
    else this.running += 1;
    try {
      if (performance.now() > wait.deadlineMs) throw new DatabaseWaitError('time_limit');
      const result = await work();
      this.answeredAtMs = performance.now();
      return result;
    } catch (error) {
      if (unavailabilityOf(error) === undefined) this.answeredAtMs = performance.now();
      throw error;
    } finally {
      this.handOn();
    }
  }

  private async turn(wait: SharedWait): Promise<void> {
    wait.pause();
    try {
      await new Promise<void>((resolve, reject) => {
        const sinceMs = performance.now();
        const begin = () => {
          clearTimeout(timer);
          resolve();
        };
        const look = () => {
          const nowMs = performance.now();
          const untilMs = Math.min(this.answeredAtMs + this.waitMs, sinceMs + LONGEST_TURN_MS);
          if (untilMs > nowMs) timer = setTimeout(look, untilMs - nowMs);
          else if (this.waiting.delete(begin)) reject(new DatabaseWaitError('time_limit'));
        };
        let timer = setTimeout(look, this.waitMs);
        this.waiting.add(begin);
      });
    } finally {
      wait.resume();
    }
  }

  private handOn(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
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
