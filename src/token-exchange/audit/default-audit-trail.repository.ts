// The trail that a host has without bringing its own: a table of this package.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { sql } from '../../platform/database/sql.js';
import { EventTable, EventTableTrail } from './event-table.js';

const EVENTS = new EventTable(
  sql`token_exchange_audit_event`,
  sql`text`,
  'token_exchange_audit_event_append',
);

@Injectable()
export class DefaultAuditTrailRepository extends EventTableTrail {
  constructor(database: Database) {
    super(EVENTS, database);
  }
}
