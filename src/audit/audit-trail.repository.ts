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

const APPEND = {
  name: 'audit_event_append',
  text: `INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, actor_user_id, payload)
    SELECT name, occurred_at, request_id, subject_user_id, actor_user_id, payload
    FROM json_to_recordset($1) AS event (name text, occurred_at timestamptz, request_id text,
      subject_user_id uuid, actor_user_id uuid, payload jsonb)`,
};

@Injectable()
export class AuditTrailRepository {
  private readonly appends = new Batch((groups: readonly (readonly AuditEvent[])[]) =>
    this.appendAll(groups),
  );

  constructor(@InjectRepository(AuditRow) private readonly rows: Repository<AuditRow>) {}

  /** Writes the events of one request, all or none; without a transaction, together with those of other requests. */
  async append(events: readonly AuditEvent[], transaction?: Transaction): Promise<void> {
    if (events.length === 0) return;
    if (transaction === undefined) return this.appends.add(events);
    await managerOf(transaction).query(APPEND.text, [toRows(events)]);
  }

  private async appendAll(groups: readonly (readonly AuditEvent[])[]): Promise<undefined[]> {
    await runPrepared(this.rows.manager.dataSource, APPEND, [toRows(groups.flat())]);
    return groups.map(() => undefined);
  }
}

function toRows(events: readonly AuditEvent[]): string {
  return JSON.stringify(events.map(toRow));
}

function toRow({ name, occurredAt, requestId, subjectUserId, actorUserId, payload }: AuditEvent) {
  return {
    name,
    occurred_at: occurredAt,
    request_id: requestId,
    subject_user_id: subjectUserId,
    actor_user_id: actorUserId,
    payload,
  };
}
