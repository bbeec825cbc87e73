// A table with a row for each event: how events are written to it, alone or within a larger statement.
import type { Batch } from '../../platform/database/batch.js';
import type { Database } from '../../platform/database/database.js';
import { SharedStatement } from '../../platform/database/shared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { parameter, sql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { AuditEvent } from './audit-event.js';
import { AuditTrail } from './audit-trail.js';

/**
 * A table with the columns `name`, `occurred_at`, `request_id`, `subject_user_id`, `actor_user_id` and `payload`, and whatever
 * else has a default.
 */
export class EventTable {
  readonly append: SharedStatement<readonly AuditEvent[], unknown, undefined>;
  /** Of what `rowOf` makes, but for the users: for a list of column definitions. */
  readonly columns: Sql;
  private readonly isNamed: boolean;

  /**
   * @param name of the table
   * @param userIdType of the columns of user ids
   * @param appendName names the prepared statement that writes events alone
   * @param clientRequestIdOf what the client of a request called it, for a table that also has the column `client_request_id`
   */
  constructor(
    private readonly name: Sql,
    userIdType: Sql,
    appendName: string,
    private readonly clientRequestIdOf?: (requestId: string) => string | undefined,
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
  }

  /** Writes events, for a statement that also writes what they are about. @param relation has `columns`, and those of the users */
  insertionFrom<Input>(relation: Sql<Input>): Sql<Input> {
    const more = this.isNamed ? sql`, client_request_id` : sql``;
    return sql`INSERT INTO ${this.name} (name, occurred_at, request_id, subject_user_id, actor_user_id, payload${more})
    SELECT name, to_timestamp(occurred_at), request_id, subject_user_id, actor_user_id, payload${more} FROM ${relation}`;
  }

  /** For JSON; a member that is undefined is not written. */
  rowOf(event: AuditEvent): Record<string, unknown> {
    return {
      name: event.name,
      // Seconds: text of ISO 8601 took longer to write than all the rest of the row.
      occurred_at: event.occurredAt.getTime() / 1000,
      request_id: event.requestId,
      subject_user_id: event.subjectUserId,
      actor_user_id: event.actorUserId,
      payload: event.payload,
      client_request_id: this.clientRequestIdOf?.(event.requestId),
    };
  }
}

/** The trail in a table. */
export class EventTableTrail extends AuditTrail {
  private readonly appends: Batch<readonly AuditEvent[], undefined>;

  constructor(
    readonly table: EventTable,
    database: Database,
  ) {
    super();
    this.appends = table.append.on(database.dataSource);
  }

  /** Without a transaction, together with the events of other requests. */
  async append(events: readonly AuditEvent[], transaction?: Transaction): Promise<void> {
    if (events.length === 0) return;
    if (transaction === undefined) return this.appends.add(events);
    const { text, values } = this.table.append;
    await managerOf(transaction).query(text, values([events]));
  }
}
