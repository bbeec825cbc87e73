// Counts hits in the table `throttle_counter`, shared by all instances.
import type { Clock } from '../../clock.js';
import type { Database } from '../../database/database.js';
import { parameter, PreparedStatement, sql } from '../../database/sql.js';
import { withinWait } from '../../database/wait-limit.js';
import type { Purge } from '../../jobs/purge.job.js';
import type { Log } from '../../log/log.js';
import { recentlyUsed } from '../../recently-used.js';
import type { Count, RefundingThrottlerStorage, Verdict } from './rate-limit.js';
import { MAX_KEYS, verdictOf, WINDOW_MS } from './rate-limit.js';

/** How long a request waits for its count, in milliseconds: the rest of its time is for its work (D49). */
const DEADLINE_MS = 1_000;
/** How long the database is not asked after a failure, so that requests do not queue behind it. */
const REST_MS = 1_000;
const WARNING_PAUSE_MS = 60_000;
/**
 * How long a refused client is refused without a query. It is short, because another instance may refund its
 * requests.
 */
const REFUSAL_MS = 1_000;

interface Hit {
  readonly key: string;
  readonly durationMs: number;
}

/**
 * Counts one hit. The same statement restarts an expired window, on the database's clock, so that instances
 * agree. If that clock was set back, a running window keeps its hits and ends one full length from now, not
 * an hour later.
 */
const COUNT_HIT = new PreparedStatement<Hit, Count>(
  'throttle_counter_count_hit',
  sql`INSERT INTO throttle_counter AS counter (key, hits, window_ends_at)
    VALUES (${parameter('text', ({ key }: Hit) => key)}, 1,
      statement_timestamp() + ${parameter('float8', ({ durationMs }: Hit) => durationMs)} * interval '1 millisecond')
    ON CONFLICT (key) DO UPDATE SET
      hits = CASE WHEN counter.window_ends_at > statement_timestamp() THEN counter.hits + 1 ELSE 1 END,
      window_ends_at = CASE WHEN counter.window_ends_at > statement_timestamp()
        THEN least(counter.window_ends_at, excluded.window_ends_at) ELSE excluded.window_ends_at END
    RETURNING hits, (extract(epoch FROM window_ends_at - statement_timestamp()) * 1000)::float8 AS "remainingMs"`,
);

interface GivenBack extends Hit {
  /** The greatest age of the hit, in milliseconds. */
  readonly ageMs: number;
}

/** Takes back one hit in its own window. */
const REFUND_HIT = new PreparedStatement<GivenBack, never>(
  'throttle_counter_refund_hit',
  sql`UPDATE throttle_counter SET hits = hits - 1
    WHERE key = ${parameter('text', ({ key }: GivenBack) => key)} AND hits > 0 AND window_ends_at > statement_timestamp()
      AND window_ends_at - ${parameter('float8', ({ durationMs }: GivenBack) => durationMs)} * interval '1 millisecond'
        <= statement_timestamp() - ${parameter('float8', ({ ageMs }: GivenBack) => ageMs)} * interval '1 millisecond'`,
);

/**
 * A client above its limit is refused for a second without a query, so that a flood does not reach the
 * database. Refused hits are not counted. If the database is unavailable, requests pass uncounted: a throttle
 * that protects the service must not take it down.
 */
export class DatabaseCounts implements RefundingThrottlerStorage {
  private readonly refusals = recentlyUsed<Count & { readonly untilMs: number }>(MAX_KEYS);
  /**
   * On the monotonic clock: setting the system clock back must not let requests pass uncounted for longer.
   */
  private restsUntilMs = Number.NEGATIVE_INFINITY;
  private warnsAgainAtMs = Number.NEGATIVE_INFINITY;

  /** @param onFailOpen called for each request that passes uncounted because the database did not answer */
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly logger: Log,
    private readonly onFailOpen: () => void = () => undefined,
  ) {}

  async increment(key: string, durationMs: number, limit: number): Promise<Verdict> {
    return verdictOf(await this.hit(key, durationMs, limit), limit);
  }

  async hit(key: string, durationMs: number, limit: number): Promise<Count> {
    const refusal = this.refusals.get(key);
    if (refusal !== undefined && refusal.hits > limit && this.clock.monotonicMs() < refusal.untilMs)
      return refusal;
    const count = await this.ask(COUNT_HIT, { key, durationMs });
    if (count === undefined) {
      this.onFailOpen();
      return { hits: 0, remainingMs: durationMs };
    }
    if (count.hits > limit) {
      const untilMs = this.clock.monotonicMs() + Math.min(REFUSAL_MS, count.remainingMs);
      this.refusals.set(key, { untilMs, ...count });
      await this.ask(REFUND_HIT, { key, durationMs, ageMs: 0 });
    }
    return count;
  }

  /** If the database is unavailable, the hit stays counted. */
  async refund(key: string, durationMs: number, ageMs: number): Promise<void> {
    await this.ask(REFUND_HIT, { key, durationMs, ageMs });
    this.refusals.delete(key);
  }

  /** @returns the first row; undefined if there is none, or the database does not answer */
  private async ask<Input, Row>(
    statement: PreparedStatement<Input, Row>,
    input: Input,
  ): Promise<Row | undefined> {
    if (this.clock.monotonicMs() < this.restsUntilMs) return undefined;
    try {
      return (await withinWait(DEADLINE_MS, () => this.database.run(statement, input)))[0];
    } catch (error) {
      this.restsUntilMs = this.clock.monotonicMs() + REST_MS;
      this.warn(error);
      return undefined;
    }
  }

  private warn(error: unknown): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs < this.warnsAgainAtMs) return;
    this.warnsAgainAtMs = nowMs + WARNING_PAUSE_MS;
    const { code, message: reason } = error as { code?: string; message?: string };
    this.logger.warn({ code, reason }, 'requests are not throttled: the database does not count them');
  }
}

/** Runs once per window. */
export const THROTTLE_PURGE: Purge = {
  name: 'throttle-purge',
  intervalSeconds: WINDOW_MS / 1000,
  batchSize: 5_000,
  tables: [{ table: 'throttle_counter', time: 'window_ends_at', keptMs: 0 }],
};
