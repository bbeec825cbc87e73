// What the embedded database needs of what PostgreSQL's own helpers do: which tables are due, and each step by itself.
import type { DataSource } from 'typeorm';
import { driverPool } from './driver-pool.js';
import { PreparedStatement } from './prepared-statement.js';
import { sql } from './sql.js';

/** A table that is due for at least one of the two. */
export interface DueTable {
  /** Quoted as SQL wants it. */
  readonly table: string;
  readonly needsVacuum: boolean;
  readonly needsAnalyze: boolean;
}

/** The catalogue of statistics is the only one that changes without a migration. */
const TABLES = sql`pg_class WHERE relkind = 'r'
  AND (relnamespace = 'public'::regnamespace OR oid = 'pg_statistic'::regclass)`;

/**
 * The thresholds are autovacuum's, with a ceiling: a step must stay short, however large the table is. Insertions are due
 * too, so that pages are frozen while they are few; a table that only grows would else be read as a whole one day.
 * Counts that are under way are written down as this statement ends: the next one sees them.
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
    ) AS judged, (SELECT pg_stat_force_next_flush()) AS flush
    WHERE "needsVacuum" OR "needsAnalyze" ORDER BY "table"`,
);

const FILLED = `SELECT oid::regclass::text AS "table" FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0 ORDER BY 1`;

const LOG_LENGTH = new PreparedStatement<void, { bytes: number }>(
  'maintenance_log_length',
  sql`SELECT (pg_current_wal_insert_lsn() - redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`,
);

export class EmbeddedMaintenanceRepository {
  constructor(private readonly dataSource: DataSource) {}

  due(): Promise<DueTable[]> {
    return DUE.run(this.dataSource);
  }

  /** Names of all tables of ours that hold anything, dead rows too. */
  async filled(): Promise<string[]> {
    const rows = await this.dataSource.query<{ table: string }[]>(FILLED);
    return rows.map(({ table }) => table);
  }

  /** @param table from `due` or `filled` */
  async vacuum(table: string): Promise<void> {
    await this.dataSource.query(`VACUUM (FREEZE) ${table}`);
  }

  /** @param table from `due` or `filled` */
  async analyze(table: string): Promise<void> {
    await this.dataSource.query(`ANALYZE ${table}`);
  }

  /** Bytes of write-ahead log since the last checkpoint. */
  async logLength(): Promise<number> {
    const [row] = await LOG_LENGTH.run(this.dataSource);
    return row?.bytes ?? 0;
  }

  async checkpoint(): Promise<void> {
    await this.dataSource.query('CHECKPOINT');
  }

  /** Whether requests wait for the one connection. */
  isAwaited(): boolean {
    return driverPool(this.dataSource).waitingCount > 0;
  }
}
