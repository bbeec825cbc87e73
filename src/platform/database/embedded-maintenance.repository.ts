// Maintenance of the embedded database, which has no autovacuum: finds the tables that are due, and runs
// single steps.
import type { Pool } from 'pg';
import type { Database } from './database.js';
import { requestPool } from './driver-pool.js';
import { PreparedStatement } from './prepared-statement.js';
import { sql } from './sql.js';

/** A table that needs a VACUUM, an ANALYZE or both. */
interface DueTable {
  /** Quoted for SQL. */
  readonly table: string;
  readonly needsVacuum: boolean;
  readonly needsAnalyze: boolean;
}

/** The statistics catalogue is the only system catalogue that changes without a migration. */
const TABLES = sql`pg_class WHERE relkind = 'r'
  AND (relnamespace = 'public'::regnamespace OR oid = 'pg_statistic'::regclass)`;

/**
 * Flushes pending statistics when this statement ends. It is a statement of its own because the planner may
 * drop it from another.
 */
const WRITE_COUNTS = new PreparedStatement<void, unknown>(
  'maintenance_write_counts',
  sql`SELECT pg_stat_force_next_flush()`,
);

/**
 * The thresholds are autovacuum's, with a ceiling: a step must stay short, however large the table is.
 * Inserts count too, so that pages are frozen while they are few. Otherwise a table that only grows would one
 * day be read as a whole.
 */
const DUE = new PreparedStatement<void, DueTable>(
  'maintenance_due',
  sql`SELECT "table", "needsVacuum", "needsAnalyze" FROM (
      SELECT oid::regclass::text AS "table",
        pg_stat_get_dead_tuples(oid) > least(50 + 0.2 * rows, 2000)
          OR pg_stat_get_ins_since_vacuum(oid) > least(1000 + 0.2 * rows, 5000) AS "needsVacuum",
        relnamespace = 'public'::regnamespace
          AND pg_stat_get_mod_since_analyze(oid) > 50 + 0.1 * rows AS "needsAnalyze"
      FROM (SELECT oid, relnamespace, greatest(reltuples, 0) AS rows FROM ${TABLES}) AS known
    ) AS checked
    WHERE "needsVacuum" OR "needsAnalyze" ORDER BY "table"`,
);

const FILLED = new PreparedStatement<void, { table: string }>(
  'maintenance_filled',
  sql`SELECT oid::regclass::text AS "table" FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0 ORDER BY 1`,
);

const LOG_LENGTH = new PreparedStatement<void, { bytes: number }>(
  'maintenance_log_length',
  sql`SELECT (pg_current_wal_insert_lsn() - redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`,
);

export class EmbeddedMaintenanceRepository {
  private readonly pool: Pool;
  private uses = 0;
  private ownUses = 0;

  /** @param database connected */
  constructor(private readonly database: Database) {
    this.pool = requestPool(database.dataSource);
    this.pool.on('acquire', () => (this.uses += 1));
  }

  /** How often other code has acquired the connection. Until this number grows, nothing becomes due. */
  get usesByOthers(): number {
    return this.uses - this.ownUses;
  }

  async due(): Promise<DueTable[]> {
    await this.ask(WRITE_COUNTS);
    return this.ask(DUE);
  }

  /** Names of all the instance's tables that occupy disk space, if only with dead rows. */
  async filled(): Promise<string[]> {
    const rows = await this.ask(FILLED);
    return rows.map(({ table }) => table);
  }

  /** @param table from `due` or `filled` */
  vacuum(table: string): Promise<void> {
    return this.run(`VACUUM (FREEZE) ${table}`);
  }

  /** @param table from `due` or `filled` */
  analyze(table: string): Promise<void> {
    return this.run(`ANALYZE ${table}`);
  }

  /** Bytes of write-ahead log since the last checkpoint. */
  async logLength(): Promise<number> {
    const [row] = await this.ask(LOG_LENGTH);
    return row?.bytes ?? 0;
  }

  checkpoint(): Promise<void> {
    return this.run('CHECKPOINT');
  }

  /** Whether requests wait for the one connection. */
  isAwaited(): boolean {
    return this.pool.waitingCount > 0;
  }

  private ask<Row>(statement: PreparedStatement<void, Row>): Promise<Row[]> {
    this.ownUses += 1;
    return this.database.run(statement, undefined);
  }

  private async run(command: string): Promise<void> {
    this.ownUses += 1;
    await this.database.query(command);
  }
}
