// The durable audit trail: one row an event, written in the transaction of what it tells about.
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryGeneratedColumn, Repository } from 'typeorm';
import { Batch } from '../database/batch.js';
import { runPrepared } from '../database/prepared-statement.js';
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

/** Columns of the events as a statement is given them; `request` is the place of the request that they belong to. */
const EVENT_COLUMNS = `request integer, name text, occurred_at float8, request_id text, subject_user_id uuid,
  actor_user_id uuid, payload jsonb`;

/**
 * The clause that writes events, for statements that write them together with what they tell about.
 * @param parameter where the statement finds them, such as `$1`: what `auditRows` makes
 * @param parties names the relation of the statement that knows the users of each `request`; only the events of the
 *   requests in it are written. Without it the events name their users themselves
 */
export function auditInsertion(parameter: string, parties?: string): string {
  const users = parties ?? 'event';
  return `INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, actor_user_id, payload)
    SELECT event.name, to_timestamp(event.occurred_at), event.request_id, ${users}.subject_user_id, ${users}.actor_user_id,
      event.payload
    FROM json_to_recordset(${parameter}) AS event (${EVENT_COLUMNS})
    ${parties === undefined ? '' : `JOIN ${parties} ON ${parties}.request = event.request`}`;
}

/** The parameter of `auditInsertion`: the events of several requests, which have their places in the list. */
export function auditRows(requests: readonly (readonly AuditEvent[])[]): string {
  return JSON.stringify(requests.flatMap((events, request) => events.map((event) => toRow(event, request))));
}

const APPEND = { name: 'audit_event_append', text: auditInsertion('$1') };

@Injectable()
export class AuditTrailRepository {
  private readonly appends = new Batch((requests: readonly (readonly AuditEvent[])[]) =>
    this.appendAll(requests),
  );

  constructor(@InjectRepository(AuditRow) private readonly rows: Repository<AuditRow>) {}

  /** Writes the events of one request, all or none; without a transaction, together with those of other requests. */
  async append(events: readonly AuditEvent[], transaction?: Transaction): Promise<void> {
    if (events.length === 0) return;
    if (transaction === undefined) return this.appends.add(events);
    await managerOf(transaction).query(APPEND.text, [auditRows([events])]);
  }

  private async appendAll(requests: readonly (readonly AuditEvent[])[]): Promise<undefined[]> {
    await runPrepared(this.rows.manager.dataSource, APPEND, [auditRows(requests)]);
    return requests.map(() => undefined);
  }
}

function toRow(event: AuditEvent, request: number) {
  return {
    request,
    name: event.name,
    // Seconds: text of ISO 8601 took longer to write than all the rest of the row.
    occurred_at: event.occurredAt.getTime() / 1000,
    request_id: event.requestId,
    subject_user_id: event.subjectUserId,
    actor_user_id: event.actorUserId,
    payload: event.payload,
  };
}
