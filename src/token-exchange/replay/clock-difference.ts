// Compares this process's clock with the database's. Replay protection works while they differ by no more than a bound.
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { TemporarilyUnavailableException } from '../../platform/http/temporarily-unavailable.exception.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';

/** Each instance may differ from the database by half of the margin: see `RETENTION_MARGIN_SECONDS` in jti.repository.ts. */
const MAX_MS = 30 * 60_000;
/** A step of this process's clock is noticed at once. A step of the database's clock is noticed at the next measurement. */
const MEASURE_EVERY_MS = 60_000;

@Injectable()
export class ClockDifference implements OnModuleInit, BeforeApplicationShutdown {
  /** The database's time at zero of this process's monotonic clock. Undefined before the first measurement. */
  private databaseZeroMs: number | undefined;
  private measuring: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private wasSmall = true;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
  ) {}

  /** The process starts even if the database is away. Requests with external tokens then get 503. */
  async onModuleInit(): Promise<void> {
    await this.measure();
    this.timer = setInterval(() => void this.measure(), MEASURE_EVERY_MS);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.measuring;
  }

  /** Whether the difference is known and small enough. Otherwise it is measured again. */
  get isSmall(): boolean {
    const differenceMs = this.differenceMs();
    const isSmall = Math.abs(differenceMs ?? Number.POSITIVE_INFINITY) <= MAX_MS;
    if (isSmall !== this.wasSmall && differenceMs !== undefined) this.logChange(isSmall, differenceMs);
    if (!isSmall) void this.measure();
    return isSmall;
  }

  /**
   * @rule D97 An instance whose clock differs from the database's by more than 30 minutes accepts no external token.
   * @throws TemporarilyUnavailableException
   */
  ensureSmall(): void {
    if (this.isSmall) return;
    throw new TemporarilyUnavailableException('The clocks of the service and its database differ too much');
  }

  /**
   * Seconds since the Unix epoch by the clock of the database, which all instances share.
   * @throws TemporarilyUnavailableException before the first measurement
   */
  databaseSeconds(): number {
    if (this.databaseZeroMs === undefined) throw this.unknown();
    return (this.databaseZeroMs + this.clock.monotonicMs()) / 1000;
  }

  /**
   * The present by the clock of the database: for times that one instance writes and another compares.
   * @throws TemporarilyUnavailableException before the first measurement
   */
  databaseNow(): Date {
    const differenceMs = this.differenceMs();
    if (differenceMs === undefined) throw this.unknown();
    return new Date(this.clock.nowMs() - differenceMs);
  }

  private unknown(): TemporarilyUnavailableException {
    void this.measure();
    return new TemporarilyUnavailableException('The clock of the database is not known yet');
  }

  /** Positive if this process's clock is ahead; undefined before the first measurement. */
  private differenceMs(): number | undefined {
    if (this.databaseZeroMs === undefined) return undefined;
    return this.clock.nowMs() - (this.databaseZeroMs + this.clock.monotonicMs());
  }

  private measure(): Promise<void> {
    this.measuring ??= this.readDatabaseTime().finally(() => (this.measuring = undefined));
    return this.measuring;
  }

  /** A failed measurement keeps the last value, because no token is accepted without the database anyway. */
  private async readDatabaseTime(): Promise<void> {
    try {
      const [row] = await this.database.background.query<{ now: number }>(
        'SELECT extract(epoch FROM clock_timestamp())::float8 AS now',
      );
      if (row !== undefined) this.databaseZeroMs = row.now * 1000 - this.clock.monotonicMs();
    } catch (error) {
      this.logger.debug({ err: error }, 'the clock of the database cannot be read; it is tried again');
    }
  }

  private logChange(isSmall: boolean, differenceMs: number): void {
    this.wasSmall = isSmall;
    const seconds = Math.round(differenceMs / 1000);
    if (isSmall) this.logger.info({ seconds }, 'the clocks of this process and of the database agree again');
    else
      this.logger.error(
        { seconds },
        'the clock of this process differs from the clock of the database by more than 30 minutes: requests with external tokens get 503',
      );
  }
}
