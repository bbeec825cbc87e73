// Uses up the tokens of a request and writes its effects: in the shared statement, or in a transaction of its own.
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-event.js';
import type { RecordedWork } from '../audit/audit.bus.js';
import { AuditBus } from '../audit/audit.bus.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { NewSession } from '../host/session-opener.js';
import { Rejection } from '../refusals/rejection.js';
import type { ResolvedUser } from '../users/apply.js';
import { identityOf } from '../users/decide.js';
import type { Expected } from '../users/identity.service.js';
import { IdentityService } from '../users/identity.service.js';
import type { KnownUser } from '../users/known-users.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import type { PerToken, Tokens } from '../verify/tokens.js';
import { usesOf } from '../verify/tokens.js';
import type { DecidedRequest, DecidedUser } from './commit.repository.js';
import { CommitRepository } from './commit.repository.js';
import type { FlowRequest } from './flow-request.js';
import { identityEvents } from './identity-events.js';
import { unavailabilityOf } from '../../platform/database/unavailable.js';

/** Lets so many transactions of requests run at a time. The others wait, for as long as the database serves. */
interface Waiting {
  readonly begin: () => void;
  readonly giveUp: (error: unknown) => void;
}

/** Shared statements take the rest of the pool, so that a rush of new users does not hold up those who are known. */
const AT_ONCE = 8;

/**
 * The wait has no time limit of its own: a burst of new users is served late rather than refused. When the database has served none
 * since a transaction began that it does not serve, all who wait are refused with that one.
 */
export class TransactionQueue {
  private readonly waiting: Waiting[] = [];
  private running = 0;
  private servedAtMs = -Infinity;

  /** @throws what the work throws; or the error of another's work, when this one has not begun */
  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.begin();
    const beganAtMs = performance.now();
    try {
      const result = await work();
      this.servedAtMs = performance.now();
      return result;
    } catch (error) {
      if (unavailabilityOf(error) === undefined) this.servedAtMs = performance.now();
      else if (this.servedAtMs < beganAtMs) this.giveUpAll(error);
      throw error;
    } finally {
      this.end();
    }
  }

  private begin(): Promise<void> | undefined {
    if (this.running === AT_ONCE) return new Promise((begin, giveUp) => this.waiting.push({ begin, giveUp }));
    this.running += 1;
    return undefined;
  }

  private end(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.running -= 1;
    else next.begin();
  }

  private giveUpAll(error: unknown): void {
    for (const { giveUp } of this.waiting.splice(0)) giveUp(error);
  }
}

export type Users = PerToken<ResolvedUser>;

/** A request that is about to be committed. */
export interface Planned<Result> {
  readonly request: FlowRequest;
  readonly tokens: Tokens;
  /** The event of its success, but for the users. */
  readonly success: AuditEvent;
  /** The row of a login that opens a session and does nothing else. */
  readonly session?: NewSession;
  /** Undefined where it always takes a transaction. */
  readonly resultOf: ((users: Users) => Result) | undefined;
  /** Further work in the transaction; its events come after those of the users. */
  readonly inTransaction: (transaction: Transaction, users: Users) => Promise<RecordedWork<Result>>;
}

export interface Committed<Result> {
  readonly users: Users;
  readonly result: Result;
}

@Injectable()
export class CommitService {
  private readonly turns = new TransactionQueue();

  constructor(
    private readonly identities: IdentityService,
    private readonly commits: CommitRepository,
    private readonly audit: AuditBus,
  ) {}

  /**
   * Commits or refuses a request that changes no user, and whose users are still as decided on, by the shared statement. For every other
   * request that uses up the tokens, and it is decided again in a transaction, which never touches replay records and may be retried.
   * @throws Rejection `token_replayed`, or the decision's refusal
   */
  async commit<Result>(planned: Planned<Result>): Promise<Committed<Result>> {
    const { request } = planned;
    const shared = await request.inTime(() => this.commitShared(planned));
    if (shared !== undefined) return shared;
    request.giveUpPlace();
    return this.turns.take(() => request.inTime(() => this.commitAlone(planned)));
  }

  /** Undefined where the tokens are used up and a transaction is to do the rest. */
  private async commitShared<Result>(planned: Planned<Result>): Promise<Committed<Result> | undefined> {
    const { tokens, resultOf } = planned;
    const mayShare = resultOf !== undefined && this.commits.writesEvents;
    const expected = mayShare ? await this.identities.expect(tokens) : undefined;
    const decided = expected && decidedRequest(planned, expected);
    const outcome = await this.commits.commit({ uses: usesOf(tokens), decided });
    if (outcome === 'replayed') throw replayRejection(tokens);
    if (outcome === 'changed' || !expected || !decided || !resultOf) return undefined;
    const { result: users } = expected;
    if (users instanceof Rejection) throw users;
    if (decided.event) this.audit.publish([decided.event]);
    return { users, result: resultOf(users) };
  }

  private async commitAlone<Result>({
    tokens,
    success,
    inTransaction,
  }: Planned<Result>): Promise<Committed<Result>> {
    try {
      return await this.audit.commit(async (transaction) => {
        const users = await this.identities.resolve(transaction, tokens);
        const { result, events } = await inTransaction(transaction, users);
        return { result: { users, result }, events: [...changesOf(success, tokens, users), ...events] };
      });
    } finally {
      this.identities.forget(tokens);
    }
  }
}

/** What the trail says of the users. */
export function idsOf({ subject, actor }: Users): Pick<AuditEvent, 'subjectUserId' | 'actorUserId'> {
  return { subjectUserId: subject.userId, actorUserId: actor?.userId };
}

function decidedRequest(
  { tokens: { subject, actor }, success, session }: Planned<unknown>,
  { users: known, result }: Expected,
): DecidedRequest {
  const users = {
    subject: decidedUser(subject, known.subject),
    actor: actor && known.actor && decidedUser(actor, known.actor),
  };
  if (result instanceof Rejection) return { users };
  const { accessGeneration } = result.subject;
  return {
    users,
    event: { ...success, ...idsOf(result) },
    session: session && { ...session, accessGeneration },
  };
}

function decidedUser(token: VerifiedToken, user: KnownUser): DecidedUser {
  const projectsDigest = token.claims.projects && user.projectsDigest;
  return { identity: identityOf(token), userId: user.id, version: user.version, projectsDigest };
}

function changesOf({ occurredAt, requestId }: AuditEvent, tokens: Tokens, users: Users): AuditEvent[] {
  const context = { occurredAt, requestId, ...idsOf(users) };
  return [
    ...identityEvents(context, tokens.subject, users.subject),
    ...(tokens.actor && users.actor ? identityEvents(context, tokens.actor, users.actor) : []),
  ];
}

/** The statement does not say which of two tokens was used before. */
export function replayRejection({ subject, actor }: Tokens): Rejection {
  const detail = actor && 'it was the subject token, the actor token, or both';
  return new Rejection('token_replayed', { ...issuerAndKid(subject), detail });
}
