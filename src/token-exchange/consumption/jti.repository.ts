// Remembers which token ids were used, so that each is accepted once.
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';
import { runPrepared } from '../../database/prepared-statement.js';
import type { TokenUse } from '../host.js';
import type { LookupParameters, Verdict } from './jti-consumption.js';
import { ConsumptionBatch, VERDICT, consumption } from './jti-consumption.js';

/** One used `jti`. */
@Entity('used_jti')
export class UsedJti {
  @PrimaryColumn('bytea', { name: 'jti_hash' })
  hash!: Buffer;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}

const CONSUME = { name: 'used_jti_consume', text: consume() };
const CONSUME_WHOLE = { name: 'used_jti_consume_whole', text: consume(['$4', '$5']) };

function consume(lookup?: LookupParameters): string {
  return `WITH ${consumption(lookup)} SELECT ${VERDICT} FROM verdict ORDER BY request`;
}

@Injectable()
export class JtiRepository {
  private readonly consumptions = new ConsumptionBatch<{ uses: readonly TokenUse[] }, Verdict>(
    (_, { asked, lookedUp = [] }) => {
      const statement = lookedUp.length === 0 ? CONSUME : CONSUME_WHOLE;
      return runPrepared(this.rows.manager.dataSource, statement, [...asked, ...lookedUp]);
    },
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
    await this.consumptions.consume({ uses });
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
