// The durable audit trail of this instance: one row an event, written in the transaction that it reports.
import { Injectable, Optional } from '@nestjs/common';
import { PersonHashes } from './person-hashes.js';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { clientRequestIdOf } from '../platform/log/request-id.js';
import { EventTable, EventTableTrail } from '../token-exchange/instance.js';
import { Database } from '../platform/database/database.js';
import { sql } from '../platform/database/sql.js';

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

  /** What an untrusted client called its request. */
  @Column('text', { name: 'client_request_id', nullable: true })
  clientRequestId!: string | null;

  @Column('uuid', { name: 'subject_user_id', nullable: true })
  subjectUserId!: string | null;

  @Column('uuid', { name: 'actor_user_id', nullable: true })
  actorUserId!: string | null;

  @Column('jsonb')
  payload!: object;
}

export const AUDIT_EVENTS = new EventTable(
  sql`audit_event`,
  sql`uuid`,
  'audit_event_append',
  clientRequestIdOf,
  true,
);

@Injectable()
export class AuditTrailRepository extends EventTableTrail {
  /** @param persons without it no refusals of tokens are written: those of commands are not */
  constructor(database: Database, @Optional() persons?: PersonHashes) {
    super(AUDIT_EVENTS, database, persons && ((person) => persons.of(person)));
  }
}
