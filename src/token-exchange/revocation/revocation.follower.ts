// Reads the database's revocations into this process.
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Follower } from '../../platform/jobs/follower.js';
import { Notifications } from '../../platform/jobs/notifications.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { FROM_THE_BEGINNING, REVOCATION_CHANNEL, RevocationRepository } from './revocation.repository.js';
import { Revocations } from './revocations.js';

/** How soon a revocation is seen if its notification is lost. Several reads may fail before revocations count as unknown. */
const POLL_MS = 2_000;
/** The start time for all pages but the last: only a complete reading makes revocations known. */
const INCOMPLETE = Number.NEGATIVE_INFINITY;
/** If a silent database holds a statement for this time, the next one uses another connection. */
const PATIENCE_MS = 3_000;

@Injectable()
export class RevocationFollower implements OnModuleInit, BeforeApplicationShutdown {
  private horizon = FROM_THE_BEGINNING;
  private readonly follower: Follower;

  constructor(
    private readonly repository: RevocationRepository,
    private readonly revocations: Revocations,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
    @Inject(LOGGER) logger: Log,
  ) {
    const failure = 'revocations cannot be read; the next attempt follows';
    const times = { pollMs: POLL_MS, patienceMs: PATIENCE_MS };
    const followed = { channel: REVOCATION_CHANNEL, ...times, failure, read: () => this.read() };
    this.follower = new Follower(followed, notifications, clock, logger);
  }

  /** The process starts even if the database is away, and answers 503 until it is back. */
  onModuleInit(): Promise<void> {
    return this.follower.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.follower.stop();
  }

  /** Reads everything committed so far, so that it applies here at once. A failed reading is retried soon. Never rejects. */
  followNews(): Promise<void> {
    return this.follower.followNews();
  }

  private async read(): Promise<void> {
    // Without other writers, the reading is current until this process writes, and then the process reads again.
    const begunAtMs = this.notifications.hasOtherProcesses ? performance.now() : Number.POSITIVE_INFINITY;
    const first = await this.repository.read(this.horizon);
    let page = first;
    while (page.last !== undefined) {
      this.revocations.learn(page, INCOMPLETE, this.clock.nowMs());
      page = await this.repository.read(this.horizon, page.last);
    }
    this.revocations.learn(page, begunAtMs, this.clock.nowMs());
    this.horizon = first.horizon;
  }
}
