// Counts requests in the database, for all instances together.
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { Clock } from '../../clock.js';
import { LOGGER } from '../../log/log.js';
import type { CountingWindow, ThrottleVerdict } from './counting-windows.js';
import { CountingWindows, verdictOf } from './counting-windows.js';
import type { RefundingThrottlerStorage } from './refunding-throttler.storage.js';
import { ThrottleCounterRepository } from './throttle-counter.repository.js';

/** Options of the throttles at registration. */
export interface ThrottleOptions {
  /** `memory`: each instance counts for itself; `database`: all instances on one database count together. */
  readonly store: 'memory' | 'database';
  /** Called for each request that was let through uncounted because the database did not answer; for a metric. */
  readonly onFailOpen?: () => void;
}

/** Injection token of the options. */
export const THROTTLE_OPTIONS = Symbol('THROTTLE_OPTIONS');

/** A request does not wait longer for its count: the rest of what it may wait is for its work (D49). */
const DEADLINE_MS = 1_000;
/** After a failure the database is left alone for so long: requests must not queue up behind it. */
const REST_MS = 1_000;
const WARNING_PAUSE_MS = 60_000;
/** For so long a refused client is not asked for again: another instance may have refunded its requests meanwhile. */
const REFUSAL_MS = 1_000;

/**
 * Fixed windows like those in memory, but on the database's clock. A client over its limit is refused for a second
 * without asking, so that a flood does not reach the database, and what is refused is not counted. When the database is away, requests pass uncounted: the throttle protects the
 * service, it must not be what takes it down.
 */
@Injectable()
export class DatabaseThrottlerStorage implements RefundingThrottlerStorage {
  private readonly refused: CountingWindows;
  /** On the monotonic clock: one that is set back must not let requests pass uncounted for so much longer. */
  private restsUntilMs = Number.NEGATIVE_INFINITY;
  private warnsAgainAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly counters: ThrottleCounterRepository,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(THROTTLE_OPTIONS) private readonly options: Pick<ThrottleOptions, 'onFailOpen'>,
  ) {
    this.refused = new CountingWindows(clock);
  }

  /** @param durationMs length of a window that begins now, in milliseconds */
  async increment(key: string, durationMs: number, limit: number): Promise<ThrottleVerdict> {
    const refused = this.refusalOf(key, limit);
    if (refused !== undefined) return verdictOf(refused, limit, this.clock.monotonicMs());
    const count = await this.inTime(() => this.counters.countHit(key, durationMs));
    const nowMs = this.clock.monotonicMs();
    if (count === undefined) {
      this.options.onFailOpen?.();
      return verdictOf({ hits: 0, beginsAtMs: nowMs, endsAtMs: nowMs + durationMs }, limit, nowMs);
    }
    const { hits, remainingMs } = count;
    if (hits > limit) {
      this.refused.begin(key, remainingMs, hits);
      await this.takeBack(key, durationMs, 0);
    }
    return verdictOf({ hits, beginsAtMs: nowMs, endsAtMs: nowMs + remainingMs }, limit, nowMs);
  }

  /** When the database is away the hit stays counted. */
  async refund(key: string, durationMs: number, ageMs: number): Promise<void> {
    await this.takeBack(key, durationMs, ageMs);
    this.refused.forget(key);
  }

  /** The window of a client that is over its limit. */
  private refusalOf(key: string, limit: number): CountingWindow | undefined {
    const refused = this.refused.find(key);
    if (refused === undefined || refused.hits <= limit) return undefined;
    return this.clock.monotonicMs() - refused.beginsAtMs < REFUSAL_MS ? refused : undefined;
  }

  private takeBack(key: string, durationMs: number, ageMs: number): Promise<void> {
    return this.inTime(() => this.counters.refundHit(key, durationMs, ageMs));
  }

  /** @returns undefined when the database does not answer */
  private async inTime<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      if (this.clock.monotonicMs() >= this.restsUntilMs) return await withDeadline(ask());
    } catch (error) {
      this.restsUntilMs = this.clock.monotonicMs() + REST_MS;
      this.warn(error);
    }
    return undefined;
  }

  private warn(error: unknown): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs < this.warnsAgainAtMs) return;
    this.warnsAgainAtMs = nowMs + WARNING_PAUSE_MS;
    const { code, message } = error as { code?: string; message?: string };
    this.logger.warn(
      { code, reason: message },
      'requests are not throttled: the database does not count them',
    );
  }
}

/** @throws Error that says so */
async function withDeadline<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${DEADLINE_MS} ms`)), DEADLINE_MS);
  });
  try {
    return await Promise.race([answer, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
