// Audit events of the catalogue, recorded in the transaction of their work and published in the process after the commit.
import { Inject, Injectable, Optional } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Sql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { Transactions } from '../../platform/database/transaction.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { StartError } from '../../platform/start-error.js';
import type { Flow, FLOWS } from '../endpoint/flows.js';
import type { ExternalPerson } from '../refusals/oauth-refusal.js';
import type { TOKEN_EXCHANGE_EVENTS } from './event-catalogue.js';
import type { PayloadsOf } from './event-members.js';

/** The payload of each event. A host that writes its own events to the same trail adds them by declaration merging. */
export interface AuditPayloads extends PayloadsOf<typeof TOKEN_EXCHANGE_EVENTS> {}

export type AuditEventName = keyof AuditPayloads;

/** Who did what, and in which request. Ids of local users only: never an e-mail address, a person's external sub or a token. */
export interface AuditContext {
  readonly occurredAt: Date;
  /** The id in the answer's `X-Request-Id` and in log lines. */
  readonly requestId: string;
  readonly subjectUserId?: string;
  /** The actor, if there is one besides the subject. */
  readonly actorUserId?: string;
}

/** An event. */
export interface AuditEvent<Name extends AuditEventName = AuditEventName> extends AuditContext {
  readonly name: Name;
  readonly payload: AuditPayloads[Name];
}

/** Creates an event of the catalogue. */
export function auditEvent<Name extends AuditEventName>(
  name: Name,
  { occurredAt, requestId, subjectUserId, actorUserId }: AuditContext,
  payload: AuditPayloads[Name],
): AuditEvent<Name> {
  return {
    name,
    occurredAt,
    requestId,
    subjectUserId,
    actorUserId,
    payload,
  };
}

/** The person of a refused token with a valid signature, and which of the two tokens it is. */
export interface RefusedPerson extends ExternalPerson {
  readonly isActor: boolean;
}

/** Writes events within a larger statement. */
export interface EventInsertion {
  /** The columns of `rowOf` except the users, as column definitions. */
  readonly columns: Sql;
  /** @returns the event's row as an object for JSON */
  rowOf(event: AuditEvent): Record<string, unknown>;
  /** @param relation has `columns` and the two columns of user ids */
  insertionFrom<Input>(relation: Sql<Input>): Sql<Input>;
}

/** The event of a refused token, as the trail has it. */
export interface StoredRefusal {
  readonly occurredAt: Date;
  readonly payload: AuditPayloads[(typeof FLOWS)[Flow]['failureEvent']];
}

/** The durable record of events. */
export abstract class AuditTrail {
  /** Lets a login write its session and its event by one statement. Only the package's own trail has it. */
  readonly eventInsertion?: EventInsertion;

  /**
   * Stores the events of one request, all or none.
   * @param transaction of their work: they are stored if it commits. Without a transaction they are stored alone
   */
  abstract append(events: readonly AuditEvent[], transaction?: Transaction): Promise<void>;

  /** The refusals of a request, the newest first. A trail without this method explains nothing to partners. */
  refusalsOf(_requestId: string): Promise<readonly StoredRefusal[]> {
    return Promise.resolve([]);
  }

  /**
   * Stores the event of a refusal. The tables of this repository also store the linked user's id, found by the same statement.
   * @param _person personal data, which must not be stored in plain form
   */
  appendRefusal(event: AuditEvent, _person: RefusedPerson): Promise<void> {
    return this.append([event]);
  }
}

/** The result of work, and its events for the trail. */
export interface RecordedWork<Result> {
  readonly result: Result;
  readonly events: readonly AuditEvent[];
}

/** The prefix of all names of events. */
const NAMES_BEGIN = 'svc.audit.';

/** Injection token of another prefix for emitted events. */
export const EVENT_PREFIX = Symbol('EVENT_PREFIX');

@Injectable()
export class AuditBus {
  private readonly emitter: EventEmitter2;

  constructor(
    private readonly trail: AuditTrail,
    private readonly transactions: Transactions,
    @Optional() @Inject(EventEmitter2) emitter: EventEmitter2 | undefined,
    @Inject(LOGGER) private readonly logger: Log,
    @Optional() @Inject(EVENT_PREFIX) private readonly prefix = NAMES_BEGIN,
  ) {
    if (emitter === undefined)
      throw new StartError(
        'token exchange finds no event emitter: import EventEmitterModule.forRoot() of @nestjs/event-emitter',
      );
    this.emitter = emitter;
  }

  /**
   * Runs work and records its events in one transaction, and publishes them after the commit: all or nothing.
   * @param work may run again after a lost race (`Transactions`)
   */
  async commit<Result>(work: (transaction: Transaction) => Promise<RecordedWork<Result>>): Promise<Result> {
    const { result, events } = await this.transactions.run(async (transaction) => {
      const recorded = await work(transaction);
      await this.trail.append(recorded.events, transaction);
      return recorded;
    });
    this.publish(events);
    return result;
  }

  /** Passes committed events to the listeners of their names. A listener's error is only logged. */
  publish(events: readonly AuditEvent[]): void {
    for (const event of events) {
      try {
        this.emitter.emit(this.prefix + event.name.slice(NAMES_BEGIN.length), event);
      } catch (error) {
        this.logger.error({ err: error, event: event.name }, 'an audit listener failed');
      }
    }
  }

  /** Records and publishes events that belong to no other work. */
  async record(events: readonly AuditEvent[]): Promise<void> {
    await this.trail.append(events);
    this.publish(events);
  }

  /** The same for a refusal. Only the trail learns its person. */
  async recordRefusal(event: AuditEvent, person: RefusedPerson): Promise<void> {
    await this.trail.appendRefusal(event, person);
    this.publish([event]);
  }
}
