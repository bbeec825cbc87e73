// Remembers which token ids were used, so that each is accepted once.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';
import type { AuditEvent } from '../audit/audit-event.js';
import { auditInsertion, auditRows } from '../audit/audit-trail.repository.js';
import { Batch } from '../database/batch.js';
import { isDivisionByZero } from '../database/database-error.js';
import { runPrepared } from '../database/prepared-statement.js';
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

/**
 * Uses up the ids of many requests: those of each request all or none, and an id that several ask for goes to the first.
 * The audit events of the requests whose ids it uses up are written with it: the only statement that writes to the tables
 * of two modules.
 *
 * `ON CONFLICT DO NOTHING` leaves out what was used before, and the primary key decides every race. Where it leaves out
 * one id of a pair the other must not stay: the division by zero takes the whole statement back, and the batch asks for
 * that pair alone. Rows go in sorted by hash, so that two statements cannot wait for each other.
 */
const CONSUME = {
  name: 'used_jti_consume',
  text: `WITH asked AS (
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
    ), told AS (
      ${auditInsertion('$4', 'WHERE request IN (SELECT verdict.request FROM verdict WHERE is_accepted)')}
    )
    SELECT is_accepted AS "isAccepted", is_whole AS "isWhole" FROM verdict ORDER BY request`,
};

/** What one request asks for. */
interface Consumption {
  readonly uses: readonly { readonly hash: Buffer; readonly exp: number }[];
  readonly events: readonly AuditEvent[];
}

@Injectable()
export class JtiRepository {
  private readonly consumptions = new Batch((requests: readonly Consumption[]) => this.consumeAll(requests));

  constructor(@InjectRepository(UsedJti) private readonly rows: Repository<UsedJti>) {}

  /**
   * Uses up the ids of one request: all of them or none.
   * @rule 5.2.5 A jti is accepted once.
   * @rule D2 Once over all issuers and both flows; stored as SHA-256, so that length and characters do not matter.
   * @rule D3 What a token uses up is used by one atomic statement, and a loser leaves nothing behind.
   * @param events written to the audit trail by the same statement, unless the ids are refused
   * @throws Rejection `token_replayed` when any of them was used before, or two of them are the same
   */
  async consume(uses: readonly TokenUse[], events: readonly AuditEvent[] = []): Promise<void> {
    if (new Set(uses.map(({ jti }) => jti)).size < uses.length) throw new Rejection('token_replayed');
    const hashed = uses.map(({ jti, exp }) => ({ hash: hashOf(jti), exp }));
    const isAccepted = await this.consumptions.add({ uses: hashed, events });
    if (!isAccepted) throw new Rejection('token_replayed');
  }

  private async consumeAll(requests: readonly Consumption[]): Promise<boolean[]> {
    const rows = requests.flatMap(({ uses }, request) => uses.map((use) => ({ ...use, request })));
    const values = [
      rows.map(({ hash }) => hash),
      rows.map(({ exp }) => exp),
      rows.map(({ request }) => request),
      auditRows(requests.map(({ events }) => events)),
    ];
    try {
      const verdicts = await runPrepared<{ isAccepted: boolean }>(
        this.rows.manager.dataSource,
        CONSUME,
        values,
      );
      return verdicts.map(({ isAccepted }) => isAccepted);
    } catch (error) {
      if (requests.length === 1 && isDivisionByZero(error)) return [false];
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
