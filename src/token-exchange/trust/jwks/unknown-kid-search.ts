// Searches for a key that is not in the cache: first in the shared snapshot, then by one bounded extra fetch.
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../../platform/clock.js';
import { withinWait } from '../../../platform/database/wait-limit.js';
import type { Follower } from '../../../platform/jobs/follower.js';
import type { JwksCacheEntry } from './jwks-cache-entry.js';
import type { JwksRefresh } from './jwks-refresh.js';
import type { JwksSnapshotRepository } from './jwks-snapshot.repository.js';

const WINDOW_MS = 30_000;
/** The deadline of a fetch, and a second to store its result. */
const LONGEST_WAIT_MS = 6_000;
const POLL_INTERVAL_MS = 500;
/** Requests that may wait for one fetch, which lasts five seconds if the endpoint hangs. Any stranger can send an unknown kid. */
const MAX_WAITING = 32;
/** Half of the requests that a process handles at once (D102), because many endpoints may hang at the same time. */
const MAX_WAITING_IN_ALL = 100;
/** The shortest interval of readings because of unknown kids. */
const REREAD_MS = 1_000;

/** A running fetch, with the number of requests that wait for it. */
interface SharedFetch {
  readonly done: Promise<void>;
  waiting: number;
}

export class UnknownKidSearch {
  private readonly fetches = new Map<JwksCacheEntry, SharedFetch>();
  /** The known end of an entry's taken window, on the monotonic clock. */
  private readonly takenUntilMs = new WeakMap<JwksCacheEntry, number>();

  constructor(
    private readonly snapshots: JwksSnapshotRepository,
    private readonly follower: Pick<Follower, 'follow' | 'reread'>,
    private readonly refresh: JwksRefresh,
    private readonly clock: Clock,
  ) {}

  /**
   * Updates the cache as far as the limits allow. A kid that is still missing is unknown.
   * @rule D36 For an unknown kid, a follower reads the snapshot first, and then may use the one fetch that all instances share.
   * See jwks.service.ts for the leader's fetches and their announcement, `reserveUnknownKidFetch` in jwks-snapshot.repository.ts
   * for the shared fetch, and leader.ts for the choice of the leader. If too many requests wait, the kid is unknown at once (D34).
   */
  async search(cached: JwksCacheEntry, kid: string): Promise<void> {
    await withinWait(this.snapshots.waitMs, () => this.follower.reread(REREAD_MS));
    if (cached.keysFor(kid, this.clock.nowMs()).length > 0) return;
    const fetch = this.fetches.get(cached) ?? this.startFetch(cached);
    if (fetch === undefined || fetch.waiting >= MAX_WAITING || this.waitingInAll >= MAX_WAITING_IN_ALL)
      return;
    fetch.waiting += 1;
    // The result of a fetch is stored in the background, without a request waiting for it (D49).
    await withinWait(LONGEST_WAIT_MS + this.snapshots.waitMs, () => fetch.done);
  }

  /** How long no extra fetch of an entry is possible, as far as this process knows; 0 if one is. */
  windowLeftMs(cached: JwksCacheEntry): number {
    return Math.max(0, (this.takenUntilMs.get(cached) ?? 0) - this.clock.monotonicMs());
  }

  /** Starts at most one extra fetch per URL in 30 seconds for all instances, even if the last one failed (D34). */
  private startFetch(cached: JwksCacheEntry): SharedFetch | undefined {
    const running = this.refresh.running(cached);
    if (running === undefined && this.windowLeftMs(cached) > 0) return undefined;
    const done = (running ?? this.reserveAndFetch(cached)).finally(() => this.fetches.delete(cached));
    // Waiting requests handle a failure. If none waits, it must not be an unhandled rejection.
    done.catch(() => undefined);
    const fetch = { done, waiting: 0 };
    this.fetches.set(cached, fetch);
    return fetch;
  }

  private get waitingInAll(): number {
    return [...this.fetches.values()].reduce((sum, { waiting }) => sum + waiting, 0);
  }

  private async reserveAndFetch(cached: JwksCacheEntry): Promise<void> {
    const now = this.clock.now();
    const reserve = () => this.snapshots.reserveUnknownKidFetch(cached.address, now, WINDOW_MS);
    const reservedByOther = await withinWait(this.snapshots.waitMs, reserve);
    const sinceMs = now.getTime() - (reservedByOther ?? now).getTime();
    this.takenUntilMs.set(cached, this.clock.monotonicMs() + WINDOW_MS - Math.max(0, sinceMs));
    if (reservedByOther === undefined) await this.refresh.refresh(cached);
    else await this.waitForOther(cached, reservedByOther);
  }

  /** Another instance has the window and may be fetching. Its result is in the snapshot within seconds. */
  private async waitForOther(cached: JwksCacheEntry, reservedAt: Date): Promise<void> {
    const sinceReservationMs = Math.max(this.clock.nowMs() - reservedAt.getTime(), 0);
    await this.lookInTime();
    for (let leftMs = LONGEST_WAIT_MS - sinceReservationMs; leftMs > 0; leftMs -= POLL_INTERVAL_MS) {
      if (hasEnded(cached, reservedAt)) return;
      await pause(POLL_INTERVAL_MS);
      await this.lookInTime();
    }
  }

  /** Reads the stored states, but not longer than a request may wait. */
  private lookInTime(): Promise<void> {
    return withinWait(this.snapshots.waitMs, () => this.follower.follow());
  }
}

/** Whether the fetch of a reservation has an outcome. */
function hasEnded({ snapshot }: JwksCacheEntry, reservedAt: Date): boolean {
  const outcomes = [snapshot.lastSuccessAt, snapshot.lastFailureAt];
  return outcomes.some((outcome) => outcome !== null && outcome >= reservedAt);
}
