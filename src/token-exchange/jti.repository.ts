// Remembers which token ids were used, so that each is accepted once.
import { hash as digest } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';
import { Batch } from '../database/batch.js';
import { isDivisionByZero } from '../database/database-error.js';
import { runPrepared } from '../database/prepared-statement.js';
import type { TokenUse } from './host.js';
import { Rejection } from './rejection.js';

/** One used `jti`. */
@Entity('used_jti')
export class UsedJti {
  @PrimaryColumn('bytea', { name: 'jti_hash' })
  hash!: Buffer;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}

/**
 * The clauses that use up the ids of many requests: those of each request all or none, and an id that several ask for goes
 * to the first. They find what `consumptionValues` makes in `$1` to `$3`, and end in `verdict (request, is_accepted,
 * is_whole)`; the statement must select `is_whole`.
 *
 * `ON CONFLICT DO NOTHING` leaves out what was used before, and the primary key decides every race. Where it leaves out
 * one id of a pair the other must not stay: the division by zero takes the whole statement back, and the batch asks for
 * that pair alone. Rows go in sorted by hash, so that two statements cannot wait for each other.
 */
export const CONSUMPTION = `asked AS (
    SELECT * FROM unnest($1::bytea[], $2::float8[], $3::integer[]) AS asked (hash, exp, request)
  ), first AS (
    SELECT DISTINCT ON (hash) hash, exp, request FROM asked ORDER BY hash, request
  ), used AS (
    INSERT INTO used_jti (jti_hash, expires_at) SELECT hash, to_timestamp(exp) FROM first
    ON CONFLICT DO NOTHING RETURNING jti_hash
  ), verdict AS (
    SELECT asked.request, every(used.jti_hash IS NOT NULL) AS is_accepted,
      1 / (every(used.jti_hash IS NOT NULL) = bool_or(used.jti_hash IS NOT NULL))::integer AS is_whole
    FROM asked LEFT JOIN first USING (hash, request) LEFT JOIN used ON used.jti_hash = first.hash
    GROUP BY asked.request
  )`;

const CONSUME = {
  name: 'used_jti_consume',
  text: `WITH ${CONSUMPTION} SELECT is_accepted AS "isAccepted", is_whole AS "isWhole" FROM verdict ORDER BY request`,
};

/** The parameters of `CONSUMPTION`: the ids of several requests, which have their places in the list. */
export function consumptionValues(requests: readonly (readonly TokenUse[])[]): unknown[] {
  const rows = requests.flatMap((uses, request) => uses.map(({ jti, exp }) => ({ jti, exp, request })));
  return [
    rows.map(({ jti }) => digest('sha256', jti, 'buffer')),
    rows.map(({ exp }) => exp),
    rows.map(({ request }) => request),
  ];
}

/** Two tokens of one request must not share an id. @throws Rejection `token_replayed` */
export function refuseSharedId(uses: readonly TokenUse[]): void {
  if (new Set(uses.map(({ jti }) => jti)).size < uses.length) throw new Rejection('token_replayed');
}

/**
 * Runs a statement with `CONSUMPTION` for a batch of requests. A pair of which one id was used before ends it with a
 * division by zero; the batch then asks again for fewer (SQLSTATE class 22), and of a request alone that is the answer.
 */
export async function consumeTogether<Answer>(
  requests: readonly unknown[],
  replayed: Answer,
  run: () => Promise<Answer[]>,
): Promise<Answer[]> {
  try {
    return await run();
  } catch (error) {
    if (requests.length === 1 && isDivisionByZero(error)) return [replayed];
    throw error;
  }
}

@Injectable()
export class JtiRepository {
  private readonly consumptions = new Batch((requests: readonly (readonly TokenUse[])[]) =>
    this.consumeAll(requests),
  );

  constructor(@InjectRepository(UsedJti) private readonly rows: Repository<UsedJti>) {}

  /**
   * Uses up the ids of one request: all of them or none.
   * @rule 5.2.5 A jti is accepted once.
   * @rule D2 Once over all issuers and both flows; stored as SHA-256, so that length and characters do not matter.
   * @rule D3 What a token uses up is used by one atomic statement, and a loser leaves nothing behind.
   * @throws Rejection `token_replayed` when any of them was used before, or two of them are the same
   */
  async consume(uses: readonly TokenUse[]): Promise<void> {
    refuseSharedId(uses);
    const isAccepted = await this.consumptions.add(uses);
    if (!isAccepted) throw new Rejection('token_replayed');
  }

  private async consumeAll(requests: readonly (readonly TokenUse[])[]): Promise<boolean[]> {
    const { dataSource } = this.rows.manager;
    const verdicts = await consumeTogether(requests, { isAccepted: false }, () =>
      runPrepared<{ isAccepted: boolean }>(dataSource, CONSUME, consumptionValues(requests)),
    );
    return verdicts.map(({ isAccepted }) => isAccepted);
  }

  /**
   * Deletes records of tokens that have expired. By their place in the table, where no estimate of sizes can mislead the
   * planner; a record never changes, so that it keeps its place.
   * @rule 2.6 A record goes after its token's expiry.
   * @param expiredBefore a record goes when its token expired before this moment
   * @param limit most records to delete
   * @returns how many were deleted
   */
  async purge(expiredBefore: Date, limit: number): Promise<number> {
    const [, deleted] = await this.rows.query<[unknown, number]>(
      `DELETE FROM used_jti WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM used_jti WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
       ))`,
      [expiredBefore, limit],
    );
    return deleted;
  }
}
