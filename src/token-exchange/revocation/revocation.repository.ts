// The rows of revocations, and all their queries.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { Logout } from './external-login.js';
import type { RevocationNews, TrustRevocation } from './revocations.js';

/** A key of an issuer, or with null all of them. */
export type RevokedTrust = Pick<TrustRevocation, 'issuer' | 'kid'>;

/** News, and up to where all is known. */
export interface RevocationReading extends RevocationNews {
  /** The oldest transaction that was still running: what it and later ones have written may be new at the next reading. */
  readonly horizon: string;
}

/** The channel on which every change is announced (NOTIFY). */
export const REVOCATION_CHANNEL = 'token_exchange_revocation';

/** Reads from the first transaction on. */
export const FROM_THE_BEGINNING = '0';

const ALL_KEYS = '';

interface NewsRow {
  readonly kind: 'horizon' | 'trust' | 'token' | 'logout';
  readonly id: string;
  readonly kid: string | null;
  readonly at: Date;
  readonly restored_at: Date | null;
  /** Of a logout. */
  readonly until: number;
}

type TrustRow = Omit<NewsRow, 'kind' | 'until'>;

@Injectable()
export class RevocationRepository {
  constructor(private readonly database: Database) {}

  /**
   * Reads all of trust, and of the rest what was written since an earlier reading, as of one moment.
   * @param horizon of that reading, or `FROM_THE_BEGINNING`
   */
  async read(horizon: string): Promise<RevocationReading> {
    const rows = await this.database.query<NewsRow>(
      `SELECT 'horizon' AS kind, txid_snapshot_xmin(txid_current_snapshot())::text AS id, NULL AS kid,
         NULL::timestamptz AS at, NULL::timestamptz AS restored_at, 0::float8 AS until
       UNION ALL SELECT 'trust', issuer, kid, revoked_at, restored_at, 0 FROM token_exchange_trust_revocation
       UNION ALL SELECT 'token', token_id, NULL, expires_at, NULL, 0 FROM token_exchange_ended_token WHERE written_in >= $1
       UNION ALL SELECT 'logout', login_key, NULL, received_at, NULL, issued_until FROM token_exchange_logout WHERE written_in >= $1`,
      [horizon],
    );
    const of = (kind: NewsRow['kind']) => rows.filter((row) => row.kind === kind);
    return {
      horizon: of('horizon')[0]?.id ?? horizon,
      trust: of('trust').map(trustOf),
      endedTokens: of('token').map(({ id, at }) => ({ id, expiresAt: at })),
      logouts: of('logout').map(({ id, at, until }) => ({ keys: [id], until, at })),
    };
  }

  /** Every trust revocation there ever was, by issuer and kid. */
  async list(transaction?: Transaction): Promise<TrustRevocation[]> {
    const connection = transaction === undefined ? this.database.dataSource : managerOf(transaction);
    const rows = await connection.query<TrustRow[]>(
      `SELECT issuer AS id, kid, revoked_at AS at, restored_at FROM token_exchange_trust_revocation ORDER BY issuer, kid`,
    );
    return rows.map(trustOf);
  }

  /** What earlier revocations refuse for good stays refused, also if the clock of this one is behind. */
  async revoke(transaction: Transaction, { issuer, kid }: RevokedTrust, revokedAt: Date): Promise<void> {
    await managerOf(transaction).query(
      `INSERT INTO token_exchange_trust_revocation AS held (issuer, kid, revoked_at) VALUES ($1, $2, $3)
       ON CONFLICT (issuer, kid) DO UPDATE SET restored_at = NULL,
         revoked_at = greatest(held.revoked_at, held.restored_at, excluded.revoked_at)`,
      [issuer, kid ?? ALL_KEYS, revokedAt],
    );
    await announce(transaction);
  }

  /** @returns whether there was such a revocation that held */
  async restore(transaction: Transaction, { issuer, kid }: RevokedTrust, restoredAt: Date): Promise<boolean> {
    const restored = await managerOf(transaction).query<unknown[]>(
      `WITH restored AS (
         UPDATE token_exchange_trust_revocation SET restored_at = $3
         WHERE issuer = $1 AND kid = $2 AND restored_at IS NULL RETURNING 1
       ) SELECT 1 FROM restored`,
      [issuer, kid ?? ALL_KEYS, restoredAt],
    );
    await announce(transaction);
    return restored.length > 0;
  }

  /** @returns false where it was ended before */
  async endToken(transaction: Transaction, id: string, expiresAt: Date): Promise<boolean> {
    const ended = await managerOf(transaction).query<unknown[]>(
      `INSERT INTO token_exchange_ended_token (token_id, expires_at) VALUES ($1, $2)
       ON CONFLICT (token_id) DO NOTHING RETURNING token_id`,
      [id, expiresAt],
    );
    await announce(transaction);
    return ended.length > 0;
  }

  /** The later of two logouts with a key counts, in any order. */
  async endLogins(transaction: Transaction, { keys, until, at }: Logout): Promise<void> {
    await managerOf(transaction).query(
      `INSERT INTO token_exchange_logout AS held (login_key, issued_until, received_at)
       SELECT login_key, $2, $3 FROM unnest($1::text[]) AS login_key ORDER BY login_key
       ON CONFLICT (login_key) DO UPDATE SET issued_until = greatest(held.issued_until, excluded.issued_until),
         received_at = greatest(held.received_at, excluded.received_at), written_in = txid_current()`,
      [keys, until, at],
    );
    await announce(transaction);
  }

  /** @returns how many went that came longer ago */
  purgeLogouts(now: Date, ageMs: number, limit: number): Promise<number> {
    return this.purge('token_exchange_logout', 'received_at', [now, ageMs, limit]);
  }

  /**
   * By the earlier of two clocks, this process's and the database's: what goes too early lets an ended token in again.
   * @param ageMs those go that expired longer ago
   * @returns how many went
   */
  purgeTokens(now: Date, ageMs: number, limit: number): Promise<number> {
    return this.purge('token_exchange_ended_token', 'expires_at', [now, ageMs, limit]);
  }

  private purge(table: string, time: string, given: [Date, number, number]): Promise<number> {
    return this.database.change(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM ${table}
         WHERE ${time} < least($1::timestamptz, clock_timestamp()) - $2 * interval '1 millisecond'
         ORDER BY ${time} LIMIT $3 FOR UPDATE SKIP LOCKED
       ))`,
      given,
    );
  }
}

/** Heard after the commit. */
async function announce(transaction: Transaction): Promise<void> {
  await managerOf(transaction).query(`SELECT pg_notify($1, '')`, [REVOCATION_CHANNEL]);
}

function trustOf({ id, kid, at, restored_at }: TrustRow): TrustRevocation {
  return { issuer: id, kid: kid === ALL_KEYS ? null : kid, revokedAt: at, restoredAt: restored_at };
}
