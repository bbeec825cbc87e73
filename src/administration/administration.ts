// Performs administrative operations, and records each in the audit trail.
import { EventEmitter2 } from '@nestjs/event-emitter';
import { BoundedMap } from '../platform/bounded-map.js';
import type { OpenDatabase } from '../platform/database/data-source.js';
import { AuditTrailRepository } from '../audit/audit-trail.repository.js';
import type { AuditContext } from '../token-exchange/instance.js';
import { AuditBus, auditEvent } from '../token-exchange/instance.js';
import { Database } from '../platform/database/database.js';
import type { Transaction } from '../platform/database/transaction.js';
import { Transactions } from '../platform/database/transaction.js';
import { SILENT } from '../platform/log/log.js';
import { OPERATOR_ROLES } from '../users/role.js';
import type { User } from '../users/user.repository.js';
import { ActorError, CommandError } from './command-error.js';
import { findUser } from './users.operations.js';
import type { InstanceParts, InstanceSettings } from './instance-parts.js';
import { instancePartsOn } from './instance-parts.js';
import type { ChangeOperation, ListOperation, Operation } from './operation.js';
import { refuseOwner } from './owner-protection.js';
import { Clock } from '../platform/clock.js';

/** Somebody who asks for an operation. */
export interface OperationRequest {
  /** What the events, and the service's log lines, carry. */
  readonly id: string;
  /** Through the running service, on the database itself, or by the operator's page. */
  readonly way: 'service' | 'database' | 'operator';
  /** The operator who asks, known for requests of the page. */
  readonly operator?: AskingOperator;
}

/** An operator who is signed in. */
interface AskingOperator {
  readonly userId: string;
  /** As the throttle counts it. */
  readonly clientAddress: string;
}

/** A part of an answer: pages as long as there are any, then the result, which is the last; that of a list is null. */
export type Piece = { readonly page: readonly unknown[] } | { readonly result: unknown };

export class Administration {
  private readonly readings = new RecordedReadings();
  private readonly changes = new Set<Promise<unknown>>();

  constructor(
    private readonly parts: InstanceParts,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
  ) {}

  /** For a process with only the database: its events have no listeners, and it has no log. */
  static async on(database: OpenDatabase, settings: InstanceSettings): Promise<Administration> {
    const shared = new Database(database.dataSource);
    const trail = new AuditTrailRepository(shared);
    const audit = new AuditBus(trail, new Transactions(shared), new EventEmitter2(), SILENT);
    const clock = await DatabaseClock.of(database);
    return new Administration(instancePartsOn(shared, settings, clock), audit, clock);
  }

  /**
   * Performs a change in one transaction with its event.
   * @throws InputError for an input that breaks a rule
   * @throws CommandError when it cannot be done: nothing is changed then, and the trail says that it was asked for
   */
  async perform<Input, Result>(
    operation: ChangeOperation<Input, Result>,
    given: unknown,
    request: OperationRequest,
  ): Promise<Result> {
    const change = this.recordingFailure(operation, request, () => {
      const input = operation.read(given);
      return this.audit.commit<Result>(async (transaction) => {
        const context = this.contextOf(request);
        const operator = await this.operatorOf(operation, input, request, transaction);
        const work = { parts: this.parts, transaction, context, operator };
        const { result, things, events = [] } = await operation.change(input, work);
        const asked = { operation: operation.name, ...wayOf(request), things };
        const performed = auditEvent('svc.audit.administration.performed', byWhom(request, context), asked);
        return { result, events: [performed, ...events] };
      });
    });
    this.changes.add(change);
    const done = await change.finally(() => this.changes.delete(change));
    // It is done. What this process does not learn now it learns by its next look.
    await operation.applied?.(this.parts).catch(() => undefined);
    return done;
  }

  /**
   * Reads a list. Written down before the first page is read: what cannot be written down does not happen.
   * @throws InputError for an input that breaks a rule
   * @throws CommandError where it cannot be read
   */
  async *list<Input, Item>(
    operation: ListOperation<Input, Item>,
    given: unknown,
    request: OperationRequest,
    stop: AbortSignal,
  ): AsyncGenerator<readonly Item[], void> {
    const input = await this.recordingFailure(operation, request, () => operation.read(given));
    const things = operation.things?.(input) ?? {};
    if (operation.isAct === true || this.readings.isDue(operation.name, things, request.operator))
      await this.recordList(operation, request, things);
    yield* operation.list(input, this.parts, stop);
  }

  /** Either of them, in pieces. Throws as they do. */
  async *run(
    operation: Operation,
    given: unknown,
    request: OperationRequest,
    stop: AbortSignal,
  ): AsyncGenerator<Piece, void> {
    if ('change' in operation) {
      yield { result: await this.perform(operation, given, request) };
    } else {
      for await (const page of this.list(operation, given, request, stop)) yield { page };
      yield { result: null };
    }
  }

  /** Resolves when the changes that were asked for are done or have failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.changes);
  }

  private async recordList(
    { name: operation, isAct }: { readonly name: string; readonly isAct?: true },
    request: OperationRequest,
    things: Readonly<Record<string, string>>,
  ): Promise<void> {
    const name = isAct === true ? 'svc.audit.administration.performed' : 'svc.audit.administration.read';
    const asked = { operation, ...wayOf(request), things };
    try {
      await this.audit.record([auditEvent(name, byWhom(request, this.contextOf(request)), asked)]);
    } catch (error) {
      this.readings.forget();
      throw error;
    }
  }

  /**
   * The operator who asks, locked until the transaction ends: one who was disabled or demoted a moment ago changes nothing more.
   * @throws ActorError
   * @throws CommandError for one who may not change that user
   */
  private async operatorOf<Input, Result>(
    operation: ChangeOperation<Input, Result>,
    input: Input,
    { operator }: OperationRequest,
    transaction: Transaction,
  ): Promise<User | undefined> {
    if (operator === undefined) return undefined;
    const { users } = this.parts;
    const { userId } = operator;
    const changed = operation.changedUser?.(input);
    const other = changed === undefined ? undefined : await findUser(changed, this.parts, transaction);
    const asking =
      other === undefined
        ? await users.lockShared(userId, transaction)
        : (await users.lockAll([userId, other.id], transaction)).find(({ id }) => id === userId);
    if (asking?.enabled !== true || !OPERATOR_ROLES.includes(asking.role)) throw new ActorError();
    if (other !== undefined)
      await refuseOwner(other.id, { parts: this.parts, transaction, operator: asking });
    return asking;
  }

  /** Does work, and records its failure. If even that cannot be written, the caller still gets the cause. */
  private async recordingFailure<Result>(
    { name: operation }: { readonly name: string },
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

  /** For the events of an operation: its user is their subject, and the operator who asks the actor. */
  private contextOf({ id: requestId, operator }: OperationRequest): AuditContext {
    return { occurredAt: this.clock.now(), requestId, actorUserId: operator?.userId };
  }
}

/** The subject of the event of a request is the operator who asks, as for a call of the API. */
function byWhom({ operator }: OperationRequest, { occurredAt, requestId }: AuditContext): AuditContext {
  return { occurredAt, requestId, subjectUserId: operator?.userId };
}

function wayOf({ way, operator }: OperationRequest) {
  return operator === undefined ? { way } : { way, clientAddress: operator.clientAddress };
}

/**
 * Times that a command writes (a revocation, a sign-out) are compared with those of instances. The operator keeps their clocks in
 * step with the database's; that of a laptop agrees only by chance.
 */
export class DatabaseClock extends Clock {
  private constructor(private readonly aheadMs: number) {
    super();
  }

  static async of({ dataSource }: Pick<OpenDatabase, 'dataSource'>): Promise<DatabaseClock> {
    const [row] = await dataSource.query<{ ms: number }[]>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    );
    return new DatabaseClock((row?.ms ?? Date.now()) - Date.now());
  }

  override nowMs(): number {
    return Date.now() + this.aheadMs;
  }
}

const MINUTE_MS = 60_000;

/** Remembers what operators have just read, so that a page that is read again and again does not fill the trail with its readings. */
class RecordedReadings {
  /** When each reading was recorded, in milliseconds of a clock that only goes forward. One that is forgotten is recorded once more. */
  private readonly recordedAtMs = new BoundedMap<number>(10_000);

  /**
   * Whether a reading has to be recorded (D109): the first of a person, an operation and its things within a minute has. A command's
   * always has.
   */
  isDue(
    operation: string,
    things: Readonly<Record<string, string>>,
    operator: AskingOperator | undefined,
  ): boolean {
    if (operator === undefined) return true;
    const key = JSON.stringify([operator.userId, operator.clientAddress, operation, Object.entries(things)]);
    const nowMs = performance.now();
    const recordedAtMs = this.recordedAtMs.get(key);
    if (recordedAtMs !== undefined && nowMs - recordedAtMs < MINUTE_MS) return false;
    this.recordedAtMs.set(key, nowMs);
    return true;
  }

  /** A reading that could not be recorded is due again. */
  forget(): void {
    this.recordedAtMs.clear();
  }
}
