// Elects one leader among all instances on one PostgreSQL database, and replaces it within 15 seconds.
import { randomUUID } from 'node:crypto';
import type { ClientConfig } from 'pg';
import { Clock } from '../foundation/clock.js';
import type { Log } from '../foundation/log.js';
import type { HeldLease } from './leader.js';
import { Leader, NO_EPOCH } from './leader.js';
import { LEASE_MS, LeaderLeaseRepository } from './leader-lease.repository.js';
import { LeaderSession, wasHeldUp } from './leader-session.js';
import type { Moment } from './leader-tenure.js';
import { LeaderTenure } from './leader-tenure.js';

const RENEWAL_MS = 3_000;
/** Between attempts while the leadership is free or contended. */
const RETRY_MS = 500;
/** Between attempts while the database is away. */
const RECONNECT_MS = 1_000;
/** A leader that has the lock and is silent for so long beyond its lease is fenced off. */
const SILENCE_MS = 2_000;

/**
 * A candidate for the leadership, over a database session of its own.
 *
 * Who leads has the lease, renews it every 3 s, and believes in it for 8 s from the sending of the last confirmed
 * renewal. On the database's clock it runs 9 s, and nobody takes it before it has run out: two never lead at once.
 * Who takes it must have the advisory lock, which the database frees when a session ends. If the lock is still held
 * 2 s after the lease ran out, its holder's machine has vanished: the lease is taken without it, with a higher epoch,
 * and the stale session ended; but only by one who has seen no renewal for 9 s on a clock that nobody sets, since the
 * database's may have been set ahead. So 13 s is the longest that nobody leads while candidates reach the database.
 */
export class AdvisoryLockLeader extends Leader {
  private readonly candidate = randomUUID();
  private candidacy: LeaderLeaseRepository | undefined;
  private tenure: LeaderTenure | undefined;
  /** The latest renewal of another's lease that was seen, and since when on the monotonic clock. */
  private seen = { renewal: '', sinceMs: 0 };
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> = Promise.resolve();
  private stopped = false;
  private failing = false;

  constructor(
    private readonly connection: ClientConfig,
    private readonly logger: Log,
    private readonly clock: Clock = new Clock(),
  ) {
    super();
  }

  get isLeader(): boolean {
    return !this.stopped && this.tenure?.isCertain(this.now()) === true;
  }

  override get lease(): HeldLease {
    return { epoch: this.tenure?.epoch ?? NO_EPOCH, candidate: this.candidate };
  }

  /** Applies for the leadership and goes on applying; resolves after the first attempt, whatever its outcome. */
  async start(): Promise<void> {
    this.turn = this.takeTurn();
    await this.turn;
  }

  /** Hands the leadership over: another candidate takes it at once. Resolves within a few seconds in every case. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.turn;
    const { candidacy } = this;
    this.candidacy = undefined;
    // When it cannot be said any more, the lease runs out by itself.
    await candidacy?.resign().catch(() => undefined);
    await candidacy?.session.close();
  }

  /** One attempt to get or keep the leadership; the next follows by itself. */
  private async takeTurn(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const pauseMs = await this.attempt();
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.start(), pauseMs);
    this.timer.unref();
  }

  /** @returns milliseconds until the next attempt */
  private async attempt(): Promise<number> {
    try {
      const lease = (this.candidacy ??= await this.connect());
      const pauseMs =
        this.tenure === undefined ? await this.apply(lease) : await this.renew(lease, this.tenure);
      this.failing = false;
      return pauseMs;
    } catch (error) {
      // The leader of before is at its last statement, which holds the lease: an applicant waits, and then asks again.
      if (this.candidacy !== undefined && this.tenure === undefined && wasHeldUp(error)) return RETRY_MS;
      this.reportFailure(error);
      this.drop();
      return RECONNECT_MS;
    }
  }

  private async connect(): Promise<LeaderLeaseRepository> {
    this.stepDown('the connection is lost');
    const session = await LeaderSession.open(this.connection, {
      onLost: (lost) => this.loseSession(lost),
      onLeadershipFree: () => this.hurry(),
    });
    const lease = new LeaderLeaseRepository(session, this.candidate);
    try {
      // What this process held over an earlier connection it has stopped to believe in: nobody need wait for its end.
      await lease.resign();
    } catch (error) {
      // Nobody else knows of this session yet: without this each attempt would leave one behind.
      session.abandon();
      throw error;
    }
    return lease;
  }

  private async apply(lease: LeaderLeaseRepository): Promise<number> {
    const { remainingMs, renewal } = await lease.look();
    if (renewal !== this.seen.renewal) this.seen = { renewal, sinceMs: performance.now() };
    if (remainingMs > 0) return Math.min(remainingMs, RENEWAL_MS);
    const holdsLock = await lease.tryLock();
    if (!holdsLock && performance.now() - this.seen.sinceMs < LEASE_MS) return RETRY_MS;
    const askedAt = this.now();
    const epoch = await lease.take(holdsLock ? 0 : SILENCE_MS);
    if (epoch === undefined) {
      if (holdsLock) await lease.unlock();
      return RETRY_MS;
    }
    this.tenure = new LeaderTenure(epoch, askedAt, holdsLock);
    this.logger.info(
      { epoch, candidate: this.candidate, fencedOff: !holdsLock },
      'this instance is the leader now',
    );
    if (holdsLock) return RENEWAL_MS;
    await lease.endStaleHolder(epoch);
    return RETRY_MS;
  }

  private async renew(lease: LeaderLeaseRepository, tenure: LeaderTenure): Promise<number> {
    const askedAt = this.now();
    if (await lease.renew(tenure.epoch)) {
      tenure.renewed(askedAt);
      if (!tenure.holdsLock) tenure.holdsLock = await lease.tryLock();
      return tenure.holdsLock ? RENEWAL_MS : RETRY_MS;
    }
    this.stepDown('another instance has taken the lease');
    await lease.unlock();
    return RETRY_MS;
  }

  private loseSession(session: LeaderSession): void {
    if (this.candidacy?.session !== session) return;
    this.drop();
    this.hurry();
  }

  private drop(): void {
    this.candidacy?.session.abandon();
    this.candidacy = undefined;
    this.stepDown('the connection is lost');
  }

  private stepDown(reason: string): void {
    if (this.tenure === undefined) return;
    this.logger.warn({ epoch: this.tenure.epoch, reason }, 'this instance is no longer the leader');
    this.tenure = undefined;
  }

  /** Makes the next attempt now, unless one is being made. */
  private hurry(): void {
    if (this.timer !== undefined && !this.stopped) void this.start();
  }

  /** Once per outage: attempts go on every second. */
  private reportFailure(error: unknown): void {
    if (this.failing) return;
    this.failing = true;
    const { code, message } = error as { code?: string; message?: string };
    this.logger.warn({ code, reason: message }, 'the leader election does not reach the database');
  }

  private now(): Moment {
    return { monotonicMs: performance.now(), wallMs: this.clock.nowMs() };
  }
}
