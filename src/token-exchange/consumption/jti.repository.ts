// Remembers which token ids were used, so that each is accepted once.
import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { Transaction } from '../database/transaction.js';
import { managerOf } from '../database/transaction.js';
import type { TokenUse } from '../host/settlements.js';
import type { ReplayRecords } from '../host/telemetry.js';
import type { Verdict } from './consumption-statement.js';
import { VERDICT, preparedConsumption } from './consumption-statement.js';
import { ConsumptionBatch, storedIdOf } from './jti-consumption.js';

/** Nothing but the ids of a request. */
interface Uses {
  readonly uses: readonly TokenUse[];
}

/** A purge of which every statement that begins from now on knows. */
export interface AnnouncedPurge {
  /** The last expiry of records that go, as the database writes it: a date of JavaScript would cut it. */
  readonly until: string;
}

const consumeFor = preparedConsumption<Uses, Verdict>(
  'used_jti_consume',
  (clauses) => sql`WITH ${clauses} SELECT ${VERDICT} FROM verdict ORDER BY request`,
);

@Injectable()
export class JtiRepository {
  private readonly consumptions: ConsumptionBatch<Uses, Verdict>;

  constructor(private readonly database: Database) {
    this.consumptions = new ConsumptionBatch(
      (consumption) => consumeFor(consumption).run(database.dataSource, consumption),
      database.waitMs,
    );
  }

  /**
   * Uses up the ids of one request: all of them or none.
   * @throws Rejection `token_replayed` when any of them was used before, or two of them are the same; `token_expired` when
   * the record of its use may have been deleted
   */
  async consume(uses: readonly TokenUse[]): Promise<void> {
    await this.consumptions.consume({ uses });
  }

  /** Which of some ids were used before; uses up none. */
  async findUsed(transaction: Transaction, uses: readonly TokenUse[]): Promise<boolean[]> {
    const rows = await managerOf(transaction).query<{ isUsed: boolean }[]>(
      `SELECT used.jti_hash IS NOT NULL AS "isUsed"
       FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (hash, position)
       LEFT JOIN token_exchange_used_jti used ON used.jti_hash = asked.hash ORDER BY asked.position`,
      [uses.map(({ jti }) => storedIdOf(jti))],
    );
    return rows.map(({ isUsed }) => isUsed);
  }

  /** Whether one of some tokens expired so long ago that the record of its use may be gone; see `announcePurge`. */
  async mayBePurged(transaction: Transaction, uses: readonly TokenUse[]): Promise<boolean> {
    const [row] = await managerOf(transaction).query<{ isPurged: boolean | null }[]>(
      'SELECT bool_or(to_timestamp(exp) <= purged_until) AS "isPurged" FROM token_exchange_replay_horizon, unnest($1::float8[]) AS exp',
      [uses.map(({ exp }) => exp)],
    );
    return row?.isPurged === true;
  }

  /**
   * Moves the horizon to the latest of the records that may go: from its commit on no token up to there is accepted. Of the
   * clocks of this process and the database's the earlier one counts, so that it takes two wrong ones to lose a record early.
   * @param now by the clock of this process
   * @param graceSeconds records of tokens that expired longer ago may go
   * @returns undefined where none may go
   */
  async announcePurge(now: Date, graceSeconds: number): Promise<AnnouncedPurge | undefined> {
    const [announced] = await this.database.query<AnnouncedPurge>(
      `WITH due AS (
         SELECT expires_at FROM token_exchange_used_jti
         WHERE expires_at < least($1::timestamptz, clock_timestamp()) - $2 * interval '1 second'
         ORDER BY expires_at DESC LIMIT 1
       ), moved AS (
         INSERT INTO token_exchange_replay_horizon AS held (purged_until) SELECT expires_at FROM due
         ON CONFLICT (singleton) DO UPDATE SET purged_until = greatest(held.purged_until, excluded.purged_until)
       ) SELECT expires_at::text AS until FROM due`,
      [now, graceSeconds],
    );
    return announced;
  }

  /**
   * Transactions that write records and may have begun to before a moment: those that hold a writer's lock on the table now.
   * A statement locks its tables before it takes its snapshot (read committed), so one that is not among them, and begins
   * later, sees all that was committed by now.
   * @returns names of them, to be found again in a later answer
   */
  async writers(): Promise<string[]> {
    const rows = await this.database.query<{ name: string }>(
      `SELECT virtualtransaction AS name FROM pg_locks
       WHERE locktype = 'relation' AND relation = 'token_exchange_used_jti'::regclass AND mode = 'RowExclusiveLock'
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()`,
    );
    return rows.map(({ name }) => name);
  }

  /**
   * Deletes records of tokens that have expired. By their position in the table, where no estimate of sizes can mislead the
   * planner; a record never changes, so that it keeps its position.
   * @rule 2.6 A record goes after its token's expiry.
   * @param announced and no writer is left that was there when it was
   * @param limit most records to delete
   * @returns how many were deleted
   */
  purge({ until }: AnnouncedPurge, limit: number): Promise<number> {
    return this.database.change(
      `DELETE FROM token_exchange_used_jti WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM token_exchange_used_jti WHERE expires_at <= $1::timestamptz ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
       ))`,
      [until, limit],
    );
  }

  /**
   * Tells how many records there are. Of all of them by the database's own estimate, which its ANALYZE keeps; before the first
   * one it is 0. The expired ones are counted by their index.
   * @param expiredBefore as for `purge`
   * @param atMost most expired records to count
   */
  async measure(expiredBefore: Date, atMost: number): Promise<ReplayRecords> {
    const [records] = await this.database.query<ReplayRecords>(
      `SELECT greatest(reltuples, 0)::float8 AS estimate, (
         SELECT count(*) FROM (SELECT FROM token_exchange_used_jti WHERE expires_at < $1 LIMIT $2) AS due
       )::float8 AS expired
       FROM pg_class WHERE oid = 'token_exchange_used_jti'::regclass`,
      [expiredBefore, atMost],
    );
    if (records === undefined) throw new Error('the table of replay records is gone');
    return records;
  }
}
