// Reads the database's revocations into this process.
import { setTimeout as pause } from 'node:timers/promises';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { Subscription } from '../../platform/jobs/notifications.js';
import { Notifications } from '../../platform/jobs/notifications.js';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { FROM_THE_BEGINNING, REVOCATION_CHANNEL, RevocationRepository } from './revocation.repository.js';
import { Revocations } from './revocations.js';

/** How soon a revocation is seen if its notification is lost. Several reads may fail before it is too late. */
const POLL_MS = 2_000;
/** A reading of several pages is as old as its beginning. */
const OF_A_PART = Number.NEGATIVE_INFINITY;
/** If a silent database holds a statement longer than this, the next one uses another connection. */
const PATIENCE_MS = 3_000;

@Injectable()
export class RevocationFollower implements OnModuleInit, BeforeApplicationShutdown {
  private horizon = FROM_THE_BEGINNING;
  private subscription: Subscription | undefined;
  private timer: NodeJS.Timeout | undefined;
  private hasStopped = false;
  private isFailing = false;
  private polling: Promise<void> = Promise.resolve();
  private reading: Promise<void> = Promise.resolve();
  private nextReading: Promise<void> | undefined;

  constructor(
    private readonly repository: RevocationRepository,
    private readonly revocations: Revocations,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
  ) {}

  /** The process starts even if the database is away, and answers 503 until it is back. */
  async onModuleInit(): Promise<void> {
    await this.followQuietly();
    if (this.notifications.hasOtherProcesses)
      this.subscription = this.notifications.listen(REVOCATION_CHANNEL, () => void this.hear());
    this.watch();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.hasStopped = true;
    clearTimeout(this.timer);
    await this.subscription?.end();
    await this.polling;
    await withinPatience(this.reading);
  }

  /**
   * Reads everything committed so far, so that it applies here at once. A failed read is retried soon. Calls during a running
   * read, which may be too early for them, share the next one.
   */
  hear(): Promise<void> {
    this.nextReading ??= this.reading.then(() => {
      this.nextReading = undefined;
      return (this.reading = this.followQuietly());
    });
    return this.nextReading;
  }

  private async follow(): Promise<void> {
    // Without other writers the state stays true until this process writes, and then it reads again.
    const begunAtMs = this.notifications.hasOtherProcesses ? performance.now() : Number.POSITIVE_INFINITY;
    const first = await this.repository.read(this.horizon);
    let page = first;
    while (page.last !== undefined) {
      this.revocations.learn(page, OF_A_PART, this.clock.nowMs());
      page = await this.repository.read(this.horizon, page.last);
    }
    this.revocations.learn(page, begunAtMs, this.clock.nowMs());
    this.horizon = first.horizon;
  }

  private async followQuietly(): Promise<void> {
    try {
      await this.follow();
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing && !this.hasStopped)
        this.logger.error({ err: error }, 'revocations cannot be read; the next attempt follows');
      this.isFailing = true;
    }
  }

  private watch(): void {
    if (this.hasStopped) return;
    this.timer = setTimeout(() => {
      this.polling = this.poll().finally(() => this.watch());
    }, POLL_MS);
    this.timer.unref();
  }

  private async poll(): Promise<void> {
    if (!this.notifications.hasOtherProcesses && !this.isFailing) return;
    await withinPatience(this.followQuietly());
  }
}

/** Waits for a reading, but not as long as a silent database would take. */
async function withinPatience(reading: Promise<void>): Promise<void> {
  const isOver = new AbortController();
  const patience = pause(PATIENCE_MS, undefined, { ref: false, signal: isOver.signal });
  await Promise.race([reading, patience.catch(() => undefined)]);
  isOver.abort();
}
