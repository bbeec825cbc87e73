// Stores the fetched key set of each JWKS address, for all instances and restarts.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';

/** The state of one JWKS address. The row exists from the first attempt to fetch it. */
export interface JwksSnapshot {
  /** SHA-256 of the URL, in hexadecimal. */
  readonly urlHash: string;

  /** The URL as people may see it: without its query. */
  readonly url: string;

  /** The usable keys in the format of `writeJwks`. The list may be empty. Null before the first success. */
  readonly keySet: string | null;

  readonly freshUntil: Date | null;

  /** When the last successful fetch began. */
  readonly lastSuccessAt: Date | null;

  /** When the last failed fetch began. It may be earlier than the last success. */
  readonly lastFailureAt: Date | null;

  readonly lastFailureReason: string | null;

  readonly consecutiveFailures: number;

  readonly nextRefreshAt: Date | null;

  readonly lastUnknownKidFetchAt: Date | null;

  /** Grows with each stored outcome. A different revision means that the row has changed. */
  readonly revision: number;
}

const COLUMNS = `url_hash AS "urlHash", url, key_set AS "keySet", fresh_until AS "freshUntil",
  last_success_at AS "lastSuccessAt", last_failure_at AS "lastFailureAt", last_failure_reason AS "lastFailureReason",
  consecutive_failures AS "consecutiveFailures", next_refresh_at AS "nextRefreshAt",
  last_unknown_kid_fetch_at AS "lastUnknownKidFetchAt", revision`;

export type JwksAddress = Pick<JwksSnapshot, 'urlHash' | 'url'>;

/** What a fetch changes in a snapshot: the keys if it returned a key set, even an empty one, otherwise the failure. */
export type FetchOutcome = Pick<JwksSnapshot, 'consecutiveFailures' | 'nextRefreshAt'> &
  Partial<
    Pick<JwksSnapshot, 'keySet' | 'freshUntil' | 'lastSuccessAt' | 'lastFailureAt' | 'lastFailureReason'>
  >;

/** The channel on which each stored outcome is announced (NOTIFY). */
export const SNAPSHOT_CHANNEL = 'jwks_snapshot';

/** The address of a URL, without its query, which may contain a secret. */
export function toJwksAddress(url: string): JwksAddress {
  const { origin, pathname, search } = new URL(url);
  const sent = origin + pathname + search;
  return { urlHash: createHash('sha256').update(sent).digest('hex'), url: origin + pathname };
}

export function neverTried(address: JwksAddress): JwksSnapshot {
  return {
    ...address,
    keySet: null,
    freshUntil: null,
    lastSuccessAt: null,
    lastFailureAt: null,
    lastFailureReason: null,
    consecutiveFailures: 0,
    nextRefreshAt: null,
    lastUnknownKidFetchAt: null,
    revision: 0,
  };
}

@Injectable()
export class JwksSnapshotRepository {
  constructor(private readonly database: Database) {}

  /** How long a request waits for the database, in milliseconds. */
  get waitMs(): number {
    return this.database.waitMs;
  }

  find(urlHashes: readonly string[]): Promise<JwksSnapshot[]> {
    return this.database.background.query<JwksSnapshot>(
      `SELECT ${COLUMNS} FROM token_exchange_jwks_snapshot WHERE url_hash = ANY ($1)`,
      [urlHashes],
    );
  }

  /** The rows whose revision differs from the known one. */
  findChanged(known: readonly Pick<JwksSnapshot, 'urlHash' | 'revision'>[]): Promise<JwksSnapshot[]> {
    return this.database.background.query<JwksSnapshot>(
      `SELECT ${COLUMNS} FROM token_exchange_jwks_snapshot AS held
       JOIN unnest($1::text[], $2::integer[]) AS known (hash, revision_known) ON url_hash = hash AND revision <> revision_known`,
      [known.map(({ urlHash }) => urlHash), known.map(({ revision }) => revision)],
    );
  }

  /**
   * Stores the outcome of a fetch and announces it, in one statement. Other columns stay. Requires the revision from the start of
   * the fetch: of overlapping fetches only the first is stored, so a stored key set is always newer than its predecessor (D94).
   * @param knownRevision of the snapshot when the fetch began
   * @returns the present row
   */
  async record(address: JwksAddress, outcome: FetchOutcome, knownRevision: number): Promise<JwksSnapshot> {
    const { keySet = null, freshUntil = null, lastSuccessAt = null } = outcome;
    const { lastFailureAt = null, lastFailureReason = null, consecutiveFailures, nextRefreshAt } = outcome;
    await this.database.background.query(
      `WITH stored AS (
         INSERT INTO token_exchange_jwks_snapshot AS held (url_hash, url, key_set, fresh_until, last_success_at,
           last_failure_at, last_failure_reason, consecutive_failures, next_refresh_at, revision)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1)
         ON CONFLICT (url_hash) DO UPDATE SET
           key_set = coalesce(excluded.key_set, held.key_set),
           fresh_until = coalesce(excluded.fresh_until, held.fresh_until),
           last_success_at = coalesce(excluded.last_success_at, held.last_success_at),
           last_failure_at = coalesce(excluded.last_failure_at, held.last_failure_at),
           last_failure_reason = coalesce(excluded.last_failure_reason, held.last_failure_reason),
           consecutive_failures = excluded.consecutive_failures, next_refresh_at = excluded.next_refresh_at,
           revision = held.revision + 1
         WHERE held.revision = $10
         RETURNING url_hash
       ) SELECT pg_notify($11, url_hash) FROM stored`,
      [
        address.urlHash,
        address.url,
        keySet,
        freshUntil,
        lastSuccessAt,
        lastFailureAt,
        lastFailureReason,
        consecutiveFailures,
        nextRefreshAt,
        knownRevision,
        SNAPSHOT_CHANNEL,
      ],
    );
    return this.stored(address);
  }

  /**
   * Reserves the one extra fetch that an unknown `kid` may cause in each window. One atomic statement decides between all instances.
   * A reservation more than a window ahead was made by a wrong clock and is ignored.
   * @returns undefined if the reservation succeeded, otherwise the time of the present reservation
   */
  async reserveUnknownKidFetch(address: JwksAddress, now: Date, windowMs: number): Promise<Date | undefined> {
    const [from, until] = [new Date(now.getTime() - windowMs), new Date(now.getTime() + windowMs)];
    const reserved = await this.database.background.query<unknown>(
      `INSERT INTO token_exchange_jwks_snapshot AS held (url_hash, url, last_unknown_kid_fetch_at) VALUES ($1, $2, $3)
       ON CONFLICT (url_hash) DO UPDATE SET last_unknown_kid_fetch_at = excluded.last_unknown_kid_fetch_at
       WHERE held.last_unknown_kid_fetch_at IS NULL
         OR held.last_unknown_kid_fetch_at <= $4 OR held.last_unknown_kid_fetch_at > $5
       RETURNING url_hash`,
      [address.urlHash, address.url, now, from, until],
    );
    if (reserved.length > 0) return undefined;
    const { lastUnknownKidFetchAt } = await this.stored(address);
    return lastUnknownKidFetchAt ?? now;
  }

  /**
   * Makes the leader fetch addresses now, and announces it. An address that was never fetched has no row. It is due anyway.
   */
  async makeDue(urlHashes: readonly string[]): Promise<void> {
    await this.database.background.query(
      // A minute ago, even if clocks differ a little.
      `WITH due AS (
         UPDATE token_exchange_jwks_snapshot
         SET next_refresh_at = least(next_refresh_at, now() - interval '1 minute'), revision = revision + 1
         WHERE url_hash = ANY ($1) RETURNING url_hash
       ) SELECT pg_notify($2, url_hash) FROM due`,
      [urlHashes, SNAPSHOT_CHANNEL],
    );
  }

  private async stored({ urlHash, url }: JwksAddress): Promise<JwksSnapshot> {
    const [row] = await this.find([urlHash]);
    if (row === undefined) throw new Error(`the row of ${url} does not exist`);
    return row;
  }
}
