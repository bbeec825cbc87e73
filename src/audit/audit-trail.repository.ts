// The durable audit trail: one row an event, written in the transaction of what it tells about.
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryGeneratedColumn, Repository } from 'typeorm';
import type { Batch } from '../database/batch.js';
import { SharedStatement } from '../database/shared-statement.js';
import type { Sql } from '../database/sql.js';
import { parameter, sql } from '../database/sql.js';
import type { Transaction } from '../database/transaction.js';
import { managerOf } from '../database/transaction.js';
import type { AuditEvent } from './audit-event.js';

/** One event as it is stored. */
@Entity('audit_event')
export class AuditRow {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column('text')
  name!: string;

  @Column('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;

  @Column('text', { name: 'request_id' })
  requestId!: string;

  @Column('uuid', { name: 'subject_user_id', nullable: true })
  subjectUserId!: string | null;

  @Column('uuid', { name: 'actor_user_id', nullable: true })
  actorUserId!: string | null;

  @Column('jsonb')
  payload!: object;
}

/** Columns of the events as a statement is given them; `request` is the index of the request that they belong to. */
const EVENT_COLUMNS = sql`request integer, name text, occurred_at float8, request_id text, subject_user_id uuid,
  actor_user_id uuid, payload jsonb`;

/**
 * The clause that writes events, for statements that write them together with what they tell about.
 * @param eventsOf the events of each request that shares the statement
 * @param parties names the relation of the statement that knows the users of each `request`, by its index; only the events
 *   of the requests in it are written. Without it the events name their users themselves
 */
export function auditInsertion<Input>(
  eventsOf: (input: Input) => readonly (readonly AuditEvent[])[],
  parties?: Sql,
): Sql<Input> {
  const users = parties ?? sql`event`;
  const ofParties =
    parties === undefined ? sql`` : sql` JOIN ${parties} ON ${parties}.request = event.request`;
  const events = parameter('json', (input: Input) => JSON.stringify(eventsOf(input).flatMap(toRows)));
  return sql`INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, actor_user_id, payload)
    SELECT event.name, to_timestamp(event.occurred_at), event.request_id, ${users}.subject_user_id, ${users}.actor_user_id,
      event.payload
    FROM json_to_recordset(${events}) AS event (${EVENT_COLUMNS})${ofParties}`;
}

const APPEND = new SharedStatement(
  'audit_event_append',
  auditInsertion((requests: readonly (readonly AuditEvent[])[]) => requests),
  (_rows, requests) => requests.map(() => undefined),
);

@Injectable()
export class AuditTrailRepository {
  private readonly appends: Batch<readonly AuditEvent[], undefined>;

  constructor(@InjectRepository(AuditRow) rows: Repository<AuditRow>) {
    this.appends = APPEND.on(rows.manager.dataSource);
  }

  /** Writes the events of one request, all or none; without a transaction, together with those of other requests. */
  async append(events: readonly AuditEvent[], transaction?: Transaction): Promise<void> {
    if (events.length === 0) return;
    if (transaction === undefined) return this.appends.add(events);
    await managerOf(transaction).query(APPEND.text, APPEND.values([events]));
  }
}

function toRows(events: readonly AuditEvent[], request: number) {
  return events.map((event) => ({
    request,
    name: event.name,
    // Seconds: text of ISO 8601 took longer to write than all the rest of the row.
    occurred_at: event.occurredAt.getTime() / 1000,
    request_id: event.requestId,
    subject_user_id: event.subjectUserId,
    actor_user_id: event.actorUserId,
    payload: event.payload,
  }));
}
