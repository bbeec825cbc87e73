// The rows of revocations, and all their queries.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { Logout, RevocationNews, TrustRevocation } from './revocations.js';

/** A key of an issuer, or all of them if null. */
export type RevokedTrust = Pick<TrustRevocation, 'issuer' | 'kid'>;

/** A page of news, and the point up to which everything is known. */
export interface RevocationReading extends RevocationNews {
  /** The oldest transaction that was still running: rows of it and later ones may be new at the next reading. */
  readonly horizon: string;
  /** The last row, if the page is full and others may follow. */
  readonly last: NewsPlace | undefined;
}

/** The position of a row among ended tokens and logouts. */
interface NewsPlace {
  readonly issuer: string;
  readonly id: string;
}

/** The channel on which every change is announced (NOTIFY). */
export const REVOCATION_CHANNEL = 'token_exchange_revocation';

/** Reads from the first transaction on. */
export const FROM_THE_BEGINNING = '0';

const ALL_KEYS = '';
const ALL_LOGINS = '';

/** The maximum number of ended tokens and logouts per read: some 5 MB. */
const PAGE_ROWS = 10_000;
/** The maximum number of separate logouts per issuer. More would fill the memory of each instance. */
const MAX_LOGOUTS = 50_000;

interface NewsRow {
  readonly kind: 'horizon' | 'trust' | 'token' | 'logout';
  readonly issuer: string;
  readonly id: string;
  readonly at: Date;
  readonly restored_at: Date | null;
  /** Of a logout. */
  readonly until: number;
}

type TrustRow = Omit<NewsRow, 'kind' | 'until'>;

const BEFORE_ALL: NewsPlace = { issuer: '', id: '' };

@Injectable()
export class RevocationRepository {
  constructor(private readonly database: Database) {}

  /**
   * Reads all revocations of trust and logouts of whole issuers, and a page of the other rows since an earlier reading, at one
   * moment. So a page includes the row that replaces deleted ones.
   * @param horizon the earlier reading's, or `FROM_THE_BEGINNING`
   * @param after the last row of the previous page
   */
  async read(horizon: string, { issuer, id }: NewsPlace = BEFORE_ALL): Promise<RevocationReading> {
    const rows = await this.database.background.query<NewsRow>(
      `SELECT 'horizon' AS kind, '' AS issuer, txid_snapshot_xmin(txid_current_snapshot())::text AS id,
         NULL::timestamptz AS at, NULL::timestamptz AS restored_at, 0::float8 AS until
       UNION ALL SELECT 'trust', issuer, kid, revoked_at, restored_at, 0 FROM token_exchange_trust_revocation
       UNION ALL SELECT 'logout', issuer, login_key, received_at, NULL, issued_until FROM token_exchange_logout
         WHERE login_key = '${ALL_LOGINS}'
       UNION ALL SELECT * FROM (
         SELECT * FROM (
           SELECT 'token', '' AS issuer, token_id AS id, expires_at, NULL::timestamptz, 0::float8
             FROM token_exchange_ended_token WHERE written_in >= $1
           UNION ALL SELECT 'logout', issuer, login_key, received_at, NULL, issued_until
             FROM token_exchange_logout WHERE written_in >= $1 AND login_key <> '${ALL_LOGINS}'
         ) AS written WHERE (issuer, id) > ($2, $3) ORDER BY issuer, id LIMIT ${PAGE_ROWS}
       ) AS page`,
      [horizon, issuer, id],
    );
    const of = (kind: NewsRow['kind']) => rows.filter((row) => row.kind === kind);
    const paged = rows.filter(
      ({ kind, id: key }) => kind === 'token' || (kind === 'logout' && key !== ALL_LOGINS),
    );
    return {
      horizon: of('horizon')[0]?.id ?? horizon,
      trust: of('trust').map(trustOf),
      endedTokens: of('token').map(({ id, at }) => ({ id, expiresAt: at })),
      logouts: of('logout').map(logoutOf),
      last: paged.length < PAGE_ROWS ? undefined : paged.at(-1),
    };
  }

  /** All trust revocations, present and former, by issuer and kid. */
  async list(transaction?: Transaction): Promise<TrustRevocation[]> {
    const connection = transaction === undefined ? this.database.dataSource : managerOf(transaction);
    const rows = await connection.query<TrustRow[]>(
      `SELECT issuer, kid AS id, revoked_at AS at, restored_at FROM token_exchange_trust_revocation ORDER BY issuer, kid`,
    );
    return rows.map(trustOf);
  }

  /** Whatever earlier revocations refuse for good stays refused, even if this process's clock is behind. */
  async revoke(transaction: Transaction, { issuer, kid }: RevokedTrust, revokedAt: Date): Promise<void> {
    await managerOf(transaction).query(
      `INSERT INTO token_exchange_trust_revocation AS held (issuer, kid, revoked_at) VALUES ($1, $2, $3)
       ON CONFLICT (issuer, kid) DO UPDATE SET restored_at = NULL,
         revoked_at = greatest(held.revoked_at, held.restored_at, excluded.revoked_at)`,
      [issuer, kid ?? ALL_KEYS, revokedAt],
    );
    await announce(transaction);
  }

  /** @returns whether such a revocation was in force */
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

  /** @returns false if it was already ended */
  async endToken(transaction: Transaction, id: string, expiresAt: Date): Promise<boolean> {
    const ended = await managerOf(transaction).query<unknown[]>(
      `INSERT INTO token_exchange_ended_token (token_id, expires_at) VALUES ($1, $2)
       ON CONFLICT (token_id) DO NOTHING RETURNING token_id`,
      [id, expiresAt],
    );
    await announce(transaction);
    return ended.length > 0;
  }

  /** Of two logouts with one key the later applies, in any order of arrival. */
  async endLogins(transaction: Transaction, { issuer, keys, until, at }: Logout): Promise<boolean> {
    await managerOf(transaction).query(
      `INSERT INTO token_exchange_logout AS held (issuer, login_key, issued_until, received_at)
       SELECT $1, login_key, $3, $4 FROM unnest($2::text[]) AS login_key ORDER BY login_key
       ON CONFLICT (issuer, login_key) DO UPDATE SET ${LATER_OF_BOTH}`,
      [issuer, keys, until, at],
    );
    const tooMany = await managerOf(transaction).query<unknown[]>(
      `SELECT 1 FROM token_exchange_logout WHERE issuer = $1 OFFSET $2 LIMIT 1`,
      [issuer, MAX_LOGOUTS],
    );
    if (tooMany.length > 0) await endAllLogins(transaction, issuer);
    await announce(transaction);
    return tooMany.length > 0;
  }
}

const LATER_OF_BOTH = `issued_until = greatest(held.issued_until, excluded.issued_until),
  received_at = greatest(held.received_at, excluded.received_at), written_in = txid_current()`;

/**
 * Replaces many logouts of an issuer by one row that ends all its logins. Two transactions wait for each other at that row. Rows
 * that are later, or locked by another transaction, stay.
 */
async function endAllLogins(transaction: Transaction, issuer: string): Promise<void> {
  const [all] = await managerOf(transaction).query<{ until: number; at: Date }[]>(
    `INSERT INTO token_exchange_logout AS held (issuer, login_key, issued_until, received_at)
     SELECT issuer, '${ALL_LOGINS}', max(issued_until), max(received_at) FROM token_exchange_logout WHERE issuer = $1 GROUP BY issuer
     ON CONFLICT (issuer, login_key) DO UPDATE SET ${LATER_OF_BOTH}
     RETURNING issued_until AS until, received_at AS at`,
    [issuer],
  );
  await managerOf(transaction).query(
    `DELETE FROM token_exchange_logout WHERE (issuer, login_key) IN (
       SELECT issuer, login_key FROM token_exchange_logout
       WHERE issuer = $1 AND login_key <> '${ALL_LOGINS}' AND issued_until <= $2 AND received_at <= $3 FOR UPDATE SKIP LOCKED
     )`,
    [issuer, all?.until, all?.at],
  );
}

/** Delivered after the commit. */
async function announce(transaction: Transaction): Promise<void> {
  await managerOf(transaction).query(`SELECT pg_notify($1, '')`, [REVOCATION_CHANNEL]);
}

function trustOf({ issuer, id, at, restored_at }: TrustRow): TrustRevocation {
  return { issuer, kid: id === ALL_KEYS ? null : id, revokedAt: at, restoredAt: restored_at };
}

function logoutOf({ issuer, id, at, until }: NewsRow): Logout {
  return { issuer, keys: id === ALL_LOGINS ? [] : [id], until, at };
}
