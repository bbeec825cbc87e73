// Maintenance of the embedded database, which has no autovacuum: finds the tables that are due, and maintains them
// while no request waits.
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../database/database.js';
import { requestPool } from '../database/driver-pool.js';
import { PreparedStatement, sql } from '../database/sql.js';
import type { Leader } from './leader.js';
import type { MayGoOn } from './periodic.job.js';
import { ApplicationJob } from './periodic.job.js';

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
 * Flushes pending statistics when this statement ends. It is a separate statement, because the planner may
 * remove the call from a larger one.
 */
const WRITE_COUNTS = new PreparedStatement<void, unknown>(
  'maintenance_write_counts',
  sql`SELECT pg_stat_force_next_flush()`,
);

/**
 * The thresholds are autovacuum's, with a maximum, so that each step is short even on a large table. Inserts
 * count too, so that few pages are frozen at a time. Otherwise a table that only grows would need one long step.
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

  /** Names of all the instance's tables that occupy disk space, even if all their rows are dead. */
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

/** The interval is short, because a step takes longer with more accumulated work, and blocks all requests. */
const INTERVAL_SECONDS = 0.1;
/** Lets requests run between two steps. */
const PAUSE_MS = 25;
/** The longest wait of a step for pending requests. A step that is delayed takes longer. */
const PATIENCE_MS = 1_000;
const POLL_INTERVAL_MS = 2;
const CHECKPOINT_AFTER_BYTES = 4 * 2 ** 20;

export class EmbeddedMaintenanceJob extends ApplicationJob {
  /** Uses of the database by others when nothing was due. */
  private usesSeen = -1;

  constructor(
    private readonly database: EmbeddedMaintenanceRepository,
    leader: Leader,
    logger: Logger,
  ) {
    super({ name: 'embedded-maintenance', intervalSeconds: INTERVAL_SECONDS }, leader, logger);
  }

  /**
   * The statistics are lost with the process, so each table is vacuumed before the first request. Clean pages
   * are skipped. If an earlier process has left much work, this takes long.
   */
  override async onApplicationBootstrap(): Promise<void> {
    for (const table of await this.database.filled()) {
      await this.database.vacuum(table);
      await this.database.analyze(table);
    }
    await super.onApplicationBootstrap();
  }

  /** Does nothing if the database was not used. */
  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    const { usesByOthers } = this.database;
    if (usesByOthers === this.usesSeen) return;
    const steps = await this.steps();
    if (steps.length === 0) this.usesSeen = usesByOthers;
    await this.perform(steps, mayGoOn);
  }

  private async perform(steps: readonly (() => Promise<void>)[], mayGoOn: MayGoOn): Promise<void> {
    for (const step of steps) {
      await this.untilQuiet();
      if (!mayGoOn()) return;
      await step();
      await pause(PAUSE_MS);
    }
  }

  private async steps(): Promise<(() => Promise<void>)[]> {
    const tables = await this.database.due();
    const steps = tables.flatMap(({ table, needsVacuum, needsAnalyze }) => [
      ...(needsVacuum ? [() => this.database.vacuum(table)] : []),
      ...(needsAnalyze ? [() => this.database.analyze(table)] : []),
    ]);
    const isLogLong = (await this.database.logLength()) > CHECKPOINT_AFTER_BYTES;
    return isLogLong ? [...steps, () => this.database.checkpoint()] : steps;
  }

  private async untilQuiet(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (this.database.isAwaited() && performance.now() < deadline) await pause(POLL_INTERVAL_MS);
  }
}
