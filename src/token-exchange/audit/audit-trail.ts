// Audit events of the catalogue: recorded in the transaction of their work, by default in a table with a row for each event,
// and published in the process after the commit.
import { Inject, Injectable, Optional } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Batch, Database } from '../../platform/database/database.js';
import type { Sql } from '../../platform/database/sql.js';
import { parameter, SharedStatement, sql, writtenSql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { answerIn, Transactions } from '../../platform/database/transaction.js';
import { clientRequestIdOf } from '../../platform/http/http-messages.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { StartError } from '../../platform/start-error.js';
import type { Flow } from '../endpoint/flows.js';
import { FLOW_NAMES, FLOWS } from '../endpoint/flows.js';
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
interface RefusedPerson extends ExternalPerson {
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

const FAILURES = FLOW_NAMES.map((flow) => FLOWS[flow].failureEvent);

/**
 * A table with the columns `name`, `occurred_at`, `request_id`, `subject_user_id`, `actor_user_id` and `payload`; other columns
 * need defaults.
 */
export class EventTable implements EventInsertion {
  readonly append: SharedStatement<readonly AuditEvent[], unknown, undefined>;
  readonly refusal: SharedStatement<RefusalRow, unknown, undefined>;
  /** Reads the refusals of a request, the newest first. */
  readonly refusalsOf: ReturnType<typeof writtenSql<string>>;
  readonly columns: Sql;

  /**
   * @param name of the table
   * @param userIdType type of the columns of user ids
   * @param appendName name of the prepared statement that writes only events
   * @param hasMoreColumns whether the table has the columns `client_request_id` and `person_hashes`
   */
  constructor(
    private readonly name: Sql,
    userIdType: Sql,
    appendName: string,
    private readonly hasMoreColumns = false,
  ) {
    const more = hasMoreColumns ? sql`, client_request_id text` : sql``;
    this.columns = sql`name text, occurred_at float8, request_id text, payload jsonb${more}`;
    const rows = parameter('json', (requests: readonly (readonly AuditEvent[])[]) =>
      JSON.stringify(requests.flat().map((event) => this.rowOf(event))),
    );
    const users = sql`subject_user_id ${userIdType}, actor_user_id ${userIdType}`;
    this.append = new SharedStatement(
      appendName,
      this.insertionFrom(sql`json_to_recordset(${rows}) AS event (${this.columns}, ${users})`),
    );
    const requestId = parameter('text', (id: string) => id);
    const failures = parameter('text[]', () => FAILURES);
    this.refusalsOf = writtenSql(sql<string>`SELECT occurred_at AS "occurredAt", payload FROM ${name}
      WHERE request_id = ${requestId} AND name = ANY (${failures}) ORDER BY request_id DESC, id DESC LIMIT 100`);
    this.refusal = this.refusals(`${appendName}_refusal`);
  }

  /** Writes refusals with the id of the linked user. */
  private refusals(name: string): SharedStatement<RefusalRow, unknown, undefined> {
    const rows = parameter('json', (refusals: readonly RefusalRow[]) =>
      JSON.stringify(
        refusals.map(({ event, person: { issuer, subject, isActor }, hashes }) => ({
          issuer,
          subject,
          is_actor: isActor,
          person_hashes: hashes?.map((hash) => `\\x${hash.toString('hex')}`),
          ...this.rowOf(event),
        })),
      ),
    );
    const given = sql`${this.columns}, issuer text, subject text, is_actor boolean, person_hashes bytea[]`;
    const linked = sql`(SELECT event.*, CASE WHEN NOT is_actor THEN link.user_id END AS subject_user_id,
        CASE WHEN is_actor THEN link.user_id END AS actor_user_id
      FROM json_to_recordset(${rows}) AS event (${given}) LEFT JOIN LATERAL (
        SELECT user_id FROM token_exchange_identity_link AS known
        WHERE known.issuer = event.issuer AND known.subject = event.subject LIMIT 1
      ) link ON true) refusal`;
    return new SharedStatement(
      name,
      this.insertionFrom(linked, this.hasMoreColumns ? sql`, person_hashes` : undefined),
    );
  }

  /**
   * Writes events within a statement that also writes what they are about.
   * @param relation has `columns` and the two columns of user ids
   * @param besides further columns of the relation and the table
   */
  insertionFrom<Input>(relation: Sql<Input>, besides = sql``): Sql<Input> {
    const more = this.hasMoreColumns ? sql`, client_request_id${besides}` : besides;
    return sql`INSERT INTO ${this.name} (name, occurred_at, request_id, subject_user_id, actor_user_id, payload${more})
    SELECT name, to_timestamp(occurred_at), request_id, subject_user_id, actor_user_id, payload${more} FROM ${relation}`;
  }

  /** Undefined properties are not written. */
  rowOf(event: AuditEvent): Record<string, unknown> {
    return {
      name: event.name,
      // Seconds, because an ISO 8601 string took longer to write than the rest of the row.
      occurred_at: event.occurredAt.getTime() / 1000,
      request_id: event.requestId,
      subject_user_id: event.subjectUserId,
      actor_user_id: event.actorUserId,
      payload: event.payload,
      client_request_id: this.hasMoreColumns ? clientRequestIdOf(event.requestId) : undefined,
    };
  }
}

/** A refusal with its person. */
interface RefusalRow {
  readonly event: AuditEvent;
  readonly person: RefusedPerson;
  /** The stored hashes of a person, who may be unknown. */
  readonly hashes?: readonly Buffer[];
}

/** The trail in a table. */
export class EventTableTrail extends AuditTrail {
  override readonly eventInsertion: EventInsertion;
  private readonly appends: Batch<readonly AuditEvent[], undefined>;
  private readonly refusals: Batch<RefusalRow, undefined>;

  /** @param hashesOf the stored hashes of a person, for a table that has the column */
  constructor(
    private readonly table: EventTable,
    private readonly database: Database,
    private readonly hashesOf?: (person: ExternalPerson) => readonly Buffer[],
  ) {
    super();
    this.eventInsertion = table;
    this.appends = database.share(table.append);
    this.refusals = database.share(table.refusal);
  }

  override appendRefusal(event: AuditEvent, person: RefusedPerson): Promise<void> {
    return this.refusals.add({ event, person, hashes: this.hashesOf?.(person) });
  }

  override refusalsOf(requestId: string): Promise<readonly StoredRefusal[]> {
    const { text, values } = this.table.refusalsOf;
    return this.database.query<StoredRefusal>(text, values(requestId));
  }

  /** Writes without a transaction, together with the events of other requests. */
  async append(events: readonly AuditEvent[], transaction?: Transaction): Promise<void> {
    if (events.length === 0) return;
    if (transaction === undefined) return this.appends.add(events);
    await answerIn(transaction, this.table.append, events);
  }
}
