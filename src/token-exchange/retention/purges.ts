// For how long the rows of this package stay, and the jobs that delete them.
import type { Purge } from '../../platform/jobs/purge.job.js';

/**
 * For how long a replay record stays after its token has expired. Two instances may differ by twice what `ClockDifference` allows, so
 * the record is there for as long as any of them may still accept the token.
 */
export const RETENTION_MARGIN_SECONDS = 3_600;
/** For how long what has expired here may still be taken by an instance whose clock is behind. */
export const CLOCK_DIFFERENCE_MS = 60_000;
/** Sessions and access tokens live a day at most; the rest is for clocks that differ. */
export const LOGOUT_KEPT_MS = 25 * 3_600_000;
/** The row of an ended session stays for so long, for what is to be said of its end. */
export const ENDED_ROWS_STAY_SECONDS = 300;

export const PURGES = {
  /** Interval and batch are those of `replayPurge`. */
  usedIds: {
    name: 'jti-purge',
    tables: [
      { table: 'token_exchange_used_jti', time: 'expires_at', keptMs: RETENTION_MARGIN_SECONDS * 1_000 },
    ],
  },
  revocations: {
    name: 'revocation-purge',
    intervalSeconds: 120,
    batchSize: 1_000,
    tables: [
      { table: 'token_exchange_ended_token', time: 'expires_at', keptMs: CLOCK_DIFFERENCE_MS },
      { table: 'token_exchange_logout', time: 'received_at', keptMs: LOGOUT_KEPT_MS },
    ],
  },
  sessions: {
    name: 'session-purge',
    intervalSeconds: 120,
    batchSize: 1_000,
    tables: [
      { table: 'token_exchange_session', time: 'expires_at', keptMs: ENDED_ROWS_STAY_SECONDS * 1_000 },
    ],
  },
} satisfies Record<string, Partial<Purge>>;
