// The second entry of the package: for a host that settles known users in one statement across its tables and ours.
//
// Such a host implements `Settlements`; src/instance/ports/settlement.repository.ts of this repository is an example. It may also keep
// events in a table of its own by the same statement. Nothing here is needed otherwise.
export { EventTable, EventTableTrail } from './audit/event-table.js';
export type { AskedId, Consumption, LookedUpId, Verdict } from './consumption/consumption-statement.js';
export { VERDICT, preparedConsumption } from './consumption/consumption-statement.js';
export { ConsumptionBatch } from './consumption/jti-consumption.js';
export type { ConsumptionRun } from './consumption/jti-consumption.js';
export { Database } from '../platform/database/database.js';
export { PreparedStatement } from '../platform/database/prepared-statement.js';
export type { Column, Sql, SqlType } from '../platform/database/sql.js';
export { givenRows, joined, parameter, sql } from '../platform/database/sql.js';
