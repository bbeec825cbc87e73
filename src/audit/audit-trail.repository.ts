// The instance's stored audit trail: one row per event, written in the transaction that it reports.
import { Injectable, Optional } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { sql } from '../platform/database/sql.js';
import { EventTable, EventTableTrail } from '../token-exchange/instance.js';
import { PersonHashes } from './person-hashes.js';

export const AUDIT_EVENTS = new EventTable(sql`audit_event`, sql`uuid`, 'audit_event_append', true);

@Injectable()
export class AuditTrailRepository extends EventTableTrail {
  /** @param persons undefined in commands, which write no refusals of tokens */
  constructor(database: Database, @Optional() persons?: PersonHashes) {
    super(AUDIT_EVENTS, database, persons && ((person) => persons.of(person)));
  }
}
