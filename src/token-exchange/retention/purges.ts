// The retention of this package's rows, and the jobs that delete them.
import type { Purge } from '../../platform/jobs/purge.job.js';

/**
 * How long a replay record stays after its token has expired. Two instances may differ by twice what `ClockDifference` allows, so
 * the record exists as long as any of them may accept the token.
 */
export const RETENTION_MARGIN_SECONDS = 3_600;
/** How long an instance whose clock is behind may still accept expired tokens. */
export const CLOCK_DIFFERENCE_MS = 60_000;
/** Sessions and access tokens live a day at most. The rest covers differing clocks. */
export const LOGOUT_KEPT_MS = 25 * 3_600_000;
/** How long the row of an ended session stays, to tell why it ended. */
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
