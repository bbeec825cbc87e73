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

  /**
   * @param name of the table
   * @param userIdType of the columns of user ids
   * @param appendName names the prepared statement that writes events alone
   * @param clientRequestIdOf what the client of a request called it, for a table that also has the column `client_request_id`
   */
  constructor(
    private readonly name: Sql,
    private readonly userIdType: Sql,
    appendName: string,
    private readonly clientRequestIdOf?: (requestId: string) => string | undefined,
  ) {
    this.append = new SharedStatement(
      appendName,
      this.insertion((requests: readonly (readonly AuditEvent[])[]) => requests),
      (_rows, requests) => requests.map(() => undefined),
    );
  }

  /**
   * The clause that writes events, for statements that write them together with what they tell about.
   * @param eventsOf the events of each request that shares the statement
   * @param parties names the relation of the statement that knows the users of each `request`, by its index; only the events
   *   of the requests in it are written. Without it the events name their users themselves
   */
  insertion<Input>(
    eventsOf: (input: Input) => readonly (readonly AuditEvent[])[],
    parties?: Sql,
  ): Sql<Input> {
    const users = parties ?? sql`event`;
    const ofParties =
      parties === undefined ? sql`` : sql` JOIN ${parties} ON ${parties}.request = event.request`;
    const rows = (events: readonly AuditEvent[], request: number) =>
      toRows(events, request, this.clientRequestIdOf);
    const events = parameter('json', (input: Input) => JSON.stringify(eventsOf(input).flatMap(rows)));
    const isNamed = this.clientRequestIdOf !== undefined;
    const [column, value, type] = isNamed
      ? [sql`, client_request_id`, sql`, event.client_request_id`, sql`, client_request_id text`]
      : [sql``, sql``, sql``];
    return sql`INSERT INTO ${this.name} (name, occurred_at, request_id, subject_user_id, actor_user_id, payload${column})
    SELECT event.name, to_timestamp(event.occurred_at), event.request_id, ${users}.subject_user_id, ${users}.actor_user_id,
      event.payload${value}
    FROM json_to_recordset(${events}) AS event (request integer, name text, occurred_at float8, request_id text,
  subject_user_id ${this.userIdType}, actor_user_id ${this.userIdType}, payload jsonb${type})${ofParties}`;
  }
}

/** The trail in a table. */
export class EventTableTrail extends AuditTrail {
  private readonly appends: Batch<readonly AuditEvent[], undefined>;

  constructor(
    private readonly table: EventTable,
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

function toRows(
  events: readonly AuditEvent[],
  request: number,
  clientRequestIdOf?: (requestId: string) => string | undefined,
) {
  return events.map((event) => ({
    request,
    name: event.name,
    // Seconds: text of ISO 8601 took longer to write than all the rest of the row.
    occurred_at: event.occurredAt.getTime() / 1000,
    request_id: event.requestId,
    subject_user_id: event.subjectUserId,
    actor_user_id: event.actorUserId,
    payload: event.payload,
    client_request_id: clientRequestIdOf?.(event.requestId),
  }));
}
