// A table with a row for each event, and the statements that write to it.
import type { Batch } from '../../platform/database/batch.js';
import type { Database } from '../../platform/database/database.js';
import type { Sql } from '../../platform/database/sql.js';
import { parameter, SharedStatement, sql, writtenSql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { answerIn } from '../../platform/database/transaction.js';
import { FLOW_NAMES, FLOWS } from '../endpoint/flows.js';
import type { ExternalPerson } from '../refusals/oauth-refusal.js';
import type { AuditEvent, EventInsertion, RefusedPerson, StoredRefusal } from './audit.bus.js';
import { AuditTrail } from './audit.bus.js';

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
  private readonly isNamed: boolean;

  /**
   * @param name of the table
   * @param userIdType type of the columns of user ids
   * @param appendName name of the prepared statement that writes only events
   * @param hasPersons whether the table has the column `person_hashes`
   * @param clientRequestIdOf the client's own request id, for a table that has the column `client_request_id`
   */
  constructor(
    private readonly name: Sql,
    userIdType: Sql,
    appendName: string,
    private readonly clientRequestIdOf?: (requestId: string) => string | undefined,
    hasPersons = false,
  ) {
    this.isNamed = clientRequestIdOf !== undefined;
    const more = this.isNamed ? sql`, client_request_id text` : sql``;
    this.columns = sql`name text, occurred_at float8, request_id text, payload jsonb${more}`;
    const rows = parameter('json', (requests: readonly (readonly AuditEvent[])[]) =>
      JSON.stringify(requests.flat().map((event) => this.rowOf(event))),
    );
    const users = sql`subject_user_id ${userIdType}, actor_user_id ${userIdType}`;
    this.append = new SharedStatement(
      appendName,
      this.insertionFrom(sql`json_to_recordset(${rows}) AS event (${this.columns}, ${users})`),
      (_rows, requests) => requests.map(() => undefined),
    );
    const requestId = parameter('text', (id: string) => id);
    const failures = parameter('text[]', () => FAILURES);
    this.refusalsOf = writtenSql(sql<string>`SELECT occurred_at AS "occurredAt", payload FROM ${name}
      WHERE request_id = ${requestId} AND name = ANY (${failures}) ORDER BY request_id DESC, id DESC LIMIT 100`);
    this.refusal = this.refusals(`${appendName}_refusal`, hasPersons);
  }

  /** Writes refusals with the id of the linked user. */
  private refusals(name: string, hasPersons: boolean): SharedStatement<RefusalRow, unknown, undefined> {
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
      this.insertionFrom(linked, hasPersons ? sql`, person_hashes` : undefined),
      (_rows, refusals) => refusals.map(() => undefined),
    );
  }

  /**
   * Writes events within a statement that also writes what they are about.
   * @param relation has `columns` and the two columns of user ids
   * @param besides further columns of the relation and the table
   */
  insertionFrom<Input>(relation: Sql<Input>, besides = sql``): Sql<Input> {
    const more = this.isNamed ? sql`, client_request_id${besides}` : besides;
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
      client_request_id: this.clientRequestIdOf?.(event.requestId),
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
