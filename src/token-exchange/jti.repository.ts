// Remembers which token ids were used, so that each is accepted once.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';
import { isUniqueViolation } from '../database/database-error.js';
import { Rejection } from './rejection.js';

/** One used `jti`. */
@Entity('used_jti')
export class UsedJti {
  @PrimaryColumn('bytea', { name: 'jti_hash' })
  hash!: Buffer;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}

/** The id of a verified token and the end of its life, in seconds since the Unix epoch. */
export interface TokenUse {
  readonly jti: string;
  readonly exp: number;
}

@Injectable()
export class JtiRepository {
  constructor(@InjectRepository(UsedJti) private readonly rows: Repository<UsedJti>) {}

  /**
   * Uses up the ids of one request: all of them or none.
   *
   * One plain INSERT does it: the primary key decides every race, and a statement that meets a used id leaves nothing
   * behind. Rows go in sorted by hash, so that two requests with the same pair cannot wait for each other.
   * @rule 5.2.5 A jti is accepted once.
   * @rule D2 Once over all issuers and both flows; stored as SHA-256, so that length and characters do not matter.
   * @rule D3 What a token uses up is used by one atomic statement, and a loser leaves nothing behind.
   * @throws Rejection `token_replayed` when any of them was used before, or two of them are the same
   */
  async consume(uses: readonly TokenUse[]): Promise<void> {
    const rows = uses.map(({ jti, exp }) => ({ hash: hashOf(jti), expiresAt: exp }));
    rows.sort((a, b) => Buffer.compare(a.hash, b.hash));
    try {
      await this.rows.query(
        `INSERT INTO used_jti (jti_hash, expires_at)
         SELECT used.hash, to_timestamp(used.exp) FROM unnest($1::bytea[], $2::float8[]) AS used (hash, exp)`,
        [rows.map(({ hash }) => hash), rows.map(({ expiresAt }) => expiresAt)],
      );
    } catch (error) {
      if (isUniqueViolation(error)) throw new Rejection('token_replayed');
      throw error;
    }
  }

  /**
   * Deletes records of tokens that have expired.
   * @rule 2.6 A record goes after its token's expiry.
   * @param expiredBefore a record goes when its token expired before this moment
   * @param limit most records to delete
   * @returns how many were deleted
   */
  async purge(expiredBefore: Date, limit: number): Promise<number> {
    const [, deleted] = await this.rows.query<[unknown, number]>(
      `DELETE FROM used_jti WHERE jti_hash IN (
         SELECT jti_hash FROM used_jti WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
       )`,
      [expiredBefore, limit],
    );
    return deleted;
  }
}

function hashOf(jti: string): Buffer {
  return createHash('sha256').update(jti, 'utf8').digest();
}
