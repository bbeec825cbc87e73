// Runs administrative operations, and records each in the audit trail. Only this file decides when the trail
// is written.
import type { Type } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import type { Transaction } from '../platform/database/transaction.js';
import { recentlyUsed } from '../platform/recently-used.js';
import type { AuditContext } from '../token-exchange/instance.js';
import { AuditBus, auditEvent } from '../token-exchange/instance.js';
import { OPERATOR_ROLES } from '../users/role.js';
import type { User } from '../users/user.repository.js';
import { UserRepository } from '../users/user.repository.js';
import type { AnswerOf, Changed, ChangeWork, Operation, OperationName } from './operation.js';
import { ActorError, CommandError, operationOf } from './operation.js';
import { OwnerProtection } from './users/owner-protection.js';
import { findUser } from './users/users.operations.js';

export interface OperationRequest {
  /** The request id for events and the service's log lines. */
  readonly id: string;
  /** Through the running service, directly on the database, or from the operator's page. */
  readonly way: 'service' | 'database' | 'operator';
  /** The requesting operator; only for requests of the page. */
  readonly operator?: AskingOperator;
}

interface AskingOperator {
  readonly userId: string;
  /** The client in the throttle's format. */
  readonly clientAddress: string;
}

/** A part of a response: the pages of a stream, then the result. The result of a stream is null. */
export type Piece = { readonly page: readonly unknown[] } | { readonly result: unknown };

/** Reads for the operator's page are never cancelled, because their work is bounded. */
const NEVER = new AbortController().signal;

@Injectable()
export class Administration {
  private readonly readings = new RecordedReadings();
  private readonly changes = new Set<Promise<unknown>>();

  constructor(
    private readonly audit: AuditBus,
    private readonly clock: Clock,
    private readonly users: UserRepository,
    private readonly owner: OwnerProtection,
  ) {}

  /**
   * Runs a change, or a read with a single response.
   * @param operations the instance that has the method
   * @throws InputError for an input that breaks a rule
   * @throws CommandError if the operation is refused. Then nothing was changed, and the trail has an event
   */
  async perform<T extends object, M extends OperationName<T>>(
    operations: T,
    method: M,
    given: unknown,
    request: OperationRequest,
  ): Promise<AnswerOf<T, M>> {
    const operation = operationOf(operations.constructor as Type<T>, method);
    return (await this.answer(operation, operations, given, request, NEVER)) as AnswerOf<T, M>;
  }

  /**
   * Runs any operation piece by piece. Throws like `perform`.
   * @param stop ends streams, and reads that wait
   */
  async *run(
    operation: Operation,
    operations: object,
    given: unknown,
    request: OperationRequest,
    stop: AbortSignal,
  ): AsyncGenerator<Piece, void> {
    if (operation.kind !== 'stream') {
      yield { result: await this.answer(operation, operations, given, request, stop) };
      return;
    }
    const pages = (await this.read(operation, operations, given, request, stop)) as AsyncIterable<unknown[]>;
    for await (const page of pages) yield { page };
    yield { result: null };
  }

  /** Resolves when all requested changes are done or have failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.changes);
  }

  private answer(...asked: Parameters<Administration['read']>): Promise<unknown> {
    const [operation, operations, given, request] = asked;
    return operation.kind === 'change'
      ? this.change(operation, operations, given, request)
      : this.read(...asked);
  }

  /** Runs a change and its event in one transaction. */
  private async change(
    operation: Operation,
    operations: object,
    given: unknown,
    request: OperationRequest,
  ): Promise<unknown> {
    const change = this.recordingFailure(operation, request, () => {
      const input = operation.read(given);
      return this.audit.commit(async (transaction) => {
        const context = this.contextOf(request);
        const operator = await this.operatorOf(operation, input, request, transaction);
        const work: ChangeWork = { transaction, context, operator };
        const {
          result,
          targets,
          events = [],
          applied,
        } = await (methodOf(operation, operations)(input, work) as Promise<Changed<unknown>>);
        const asked = { operation: operation.name, ...wayOf(request), targets };
        const performed = auditEvent('svc.audit.administration.performed', byWhom(request, context), asked);
        return { result: { result, applied }, events: [performed, ...events] };
      });
    });
    this.changes.add(change);
    const { result, applied } = await change.finally(() => this.changes.delete(change));
    // The change is done. If this process misses it now, it will see it at its next check.
    await applied?.().catch(() => undefined);
    return result;
  }

  /** Records the read first: a read that cannot be recorded does not happen. */
  private async read(
    operation: Operation,
    operations: object,
    given: unknown,
    request: OperationRequest,
    stop: AbortSignal,
  ): Promise<unknown> {
    const input = await this.recordingFailure(operation, request, () => operation.read(given));
    const targets = operation.targets?.(input as never) ?? {};
    if (operation.isAct === true || this.readings.isDue(operation.name, targets, request.operator))
      await this.recordReading(operation, request, targets);
    return methodOf(operation, operations)(input, stop);
  }

  private async recordReading(
    { name: operation, isAct }: Operation,
    request: OperationRequest,
    targets: Readonly<Record<string, string>>,
  ): Promise<void> {
    const name = isAct === true ? 'svc.audit.administration.performed' : 'svc.audit.administration.read';
    const asked = { operation, ...wayOf(request), targets };
    try {
      await this.audit.record([auditEvent(name, byWhom(request, this.contextOf(request)), asked)]);
    } catch (error) {
      this.readings.forget();
      throw error;
    }
  }

  /**
   * The requesting operator, locked until the transaction ends: an operator who was disabled or demoted a
   * moment ago changes nothing more.
   * @throws ActorError
   * @throws CommandError if the operator may not change that user
   */
  private async operatorOf(
    operation: Operation,
    input: unknown,
    { operator }: OperationRequest,
    transaction: Transaction,
  ): Promise<User | undefined> {
    if (operator === undefined) return undefined;
    const { userId } = operator;
    const changed = operation.changedUser?.(input as never);
    const other = changed === undefined ? undefined : await findUser(changed, this.users, transaction);
    const asking =
      other === undefined
        ? await this.users.lockShared(userId, transaction)
        : (await this.users.lockAll([userId, other.id], transaction)).find(({ id }) => id === userId);
    if (asking?.enabled !== true || !OPERATOR_ROLES.includes(asking.role)) throw new ActorError();
    if (other !== undefined) await this.owner.refuseOwner(other.id, { transaction, operator: asking });
    return asking;
  }

  /** Runs work, and records its failure. If that fails too, the caller still gets the original error. */
  private async recordingFailure<Result>(
    { name: operation }: Operation,
    request: OperationRequest,
    work: () => Result | Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof CommandError ? 'refused' : 'internal_error';
      const failure = { operation, ...wayOf(request), reason } as const;
      const context = byWhom(request, this.contextOf(request));
      const event = auditEvent('svc.audit.administration.failed', context, failure);
      await this.audit.record([event]).catch(() => undefined);
      throw error;
    }
  }

  /**
   * The context of an operation's own events: the affected user is their subject, and the requesting operator
   * the actor.
   */
  private contextOf({ id: requestId, operator }: OperationRequest): AuditContext {
    return { occurredAt: this.clock.now(), requestId, actorUserId: operator?.userId };
  }
}

function methodOf({ method }: Operation, operations: object) {
  const methods = operations as Readonly<Record<string, (input: unknown, more: unknown) => unknown>>;
  return (input: unknown, more: unknown) => methods[method]?.(input, more);
}

/** The context of the request's event: its subject is the requesting operator, as for an API call. */
function byWhom({ operator }: OperationRequest, { occurredAt, requestId }: AuditContext): AuditContext {
  return { occurredAt, requestId, subjectUserId: operator?.userId };
}

function wayOf({ way, operator }: OperationRequest) {
  return operator === undefined ? { way } : { way, clientAddress: operator.clientAddress };
}

const MINUTE_MS = 60_000;

/** Remembers what operators have read recently, so that repeated reads of a page do not fill the trail. */
class RecordedReadings {
  /**
   * When each read was recorded, on the monotonic clock, in milliseconds. A forgotten read is recorded again.
   */
  private readonly recordedAtMs = recentlyUsed<number>(10_000);

  /**
   * Whether a read must be recorded (D109): the first within a minute by the same person, operation and
   * objects. A command's reads are always recorded.
   */
  isDue(
    operation: string,
    targets: Readonly<Record<string, string>>,
    operator: AskingOperator | undefined,
  ): boolean {
    if (operator === undefined) return true;
    const key = JSON.stringify([operator.userId, operator.clientAddress, operation, Object.entries(targets)]);
    const nowMs = performance.now();
    const recordedAtMs = this.recordedAtMs.get(key);
    if (recordedAtMs !== undefined && nowMs - recordedAtMs < MINUTE_MS) return false;
    this.recordedAtMs.set(key, nowMs);
    return true;
  }

  /** Makes reads that could not be recorded due again. */
  forget(): void {
    this.recordedAtMs.clear();
  }
}
