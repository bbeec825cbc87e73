// Stores used token ids, so that each is accepted once.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { ReplayRecords } from '../host/telemetry.js';
import type { TokenUse } from '../verify/external-claims.js';
import type { AskedId } from './use.repository.js';
import { jtiHashOf } from './use.repository.js';

/**
 * How long a replay record stays after its token has expired. Two instances may differ by twice what `ClockDifference` allows, so
 * the record exists as long as any of them may accept the token.
 */
export const RETENTION_MARGIN_SECONDS = 3_600;

@Injectable()
export class JtiRepository {
  constructor(private readonly database: Database) {}

  /** Whether any of the ids was used before. Does not use them up. */
  async hasUsed(transaction: Transaction, asked: readonly Pick<AskedId, 'hash'>[]): Promise<boolean> {
    const rows = await managerOf(transaction).query<unknown[]>(
      'SELECT 1 FROM token_exchange_used_jti WHERE jti_hash = ANY ($1::uuid[]) LIMIT 1',
      [asked.map(({ hash }) => hash)],
    );
    return rows.length > 0;
  }

  /** Uses up the id of a logout token in the transaction of its logout. @returns false if it was used before */
  async useUp(transaction: Transaction, { jti, exp }: TokenUse, issuer: string): Promise<boolean> {
    const rows = await managerOf(transaction).query<unknown[]>(
      `INSERT INTO token_exchange_used_jti (jti_hash, expires_at, logout_issuer) VALUES ($1::uuid, to_timestamp($2), $3)
       ON CONFLICT DO NOTHING RETURNING 1`,
      [jtiHashOf(jti), exp, issuer],
    );
    return rows.length === 1;
  }

  /** Uses up the id of a client's JWT, in a statement that commits alone (D3). @returns false if it was used before */
  async useAlone({ jti, exp }: TokenUse): Promise<boolean> {
    const rows = await this.database.dataSource.query<unknown[]>(
      `INSERT INTO token_exchange_used_jti (jti_hash, expires_at) VALUES ($1::uuid, to_timestamp($2)) ON CONFLICT DO NOTHING RETURNING 1`,
      [jtiHashOf(jti), exp],
    );
    return rows.length === 1;
  }

  /** What used an id: a logout of the issuer, or anything else; undefined if it is unused. */
  async findUse(
    jti: string,
    issuer: string,
    transaction?: Transaction,
  ): Promise<'logout' | 'other' | undefined> {
    const connection = transaction === undefined ? this.database.dataSource : managerOf(transaction);
    const [use] = await connection.query<{ isLogout: boolean }[]>(
      `SELECT logout_issuer IS NOT DISTINCT FROM $2 AS "isLogout" FROM token_exchange_used_jti WHERE jti_hash = $1::uuid`,
      [jtiHashOf(jti), issuer],
    );
    return use && (use.isLogout ? 'logout' : 'other');
  }

  /**
   * Counts the records: all of them by ANALYZE's estimate, which is 0 before its first run, and the expired ones by their index.
   * @param now by the clock of this process
   * @param atMost the maximum number of expired records to count
   */
  async measure(now: Date, atMost: number): Promise<ReplayRecords> {
    const [records] = await this.database.background.query<ReplayRecords>(
      `SELECT greatest(reltuples, 0)::float8 AS estimate, (
         SELECT count(*) FROM (SELECT FROM token_exchange_used_jti WHERE expires_at < $1::timestamptz - $2 * interval '1 second' LIMIT $3) AS due
       )::float8 AS expired
       FROM pg_class WHERE oid = 'token_exchange_used_jti'::regclass`,
      [now, RETENTION_MARGIN_SECONDS, atMost],
    );
    if (records === undefined) throw new Error('the table of replay records does not exist');
    return records;
  }
}
