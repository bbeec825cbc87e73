// Updates the cached keys from the snapshots that any instance stores.
import type { Notifications, Subscription } from '../../../platform/jobs/notifications.js';
import type { Clock } from '../../../platform/clock.js';
import type { Log } from '../../../platform/log/log.js';
import type { JwksCache } from './jwks-cache-entry.js';
import type { JwksSnapshotRepository } from './jwks-snapshot.repository.js';
import { SNAPSHOT_CHANNEL } from './jwks-snapshot.repository.js';

/** How soon a change is seen if its notification is lost. */
const POLL_MS = 5_000;
/** Unknown kids cause no more frequent reads than this. */
const REREAD_MS = 1_000;

export class JwksSnapshotFollower {
  private subscription: Subscription | undefined;
  private reading: Promise<void> | undefined;
  private readAtMs = Number.NEGATIVE_INFINITY;
  private isFailing = false;
  private isStopped = false;

  constructor(
    private readonly cache: JwksCache,
    private readonly snapshots: JwksSnapshotRepository,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
    private readonly logger: Log,
  ) {}

  /**
   * Reads the snapshots of all entries and listens for changes. Called again after a change of the entries. Does not wait for a
   * database that is away.
   */
  async start(): Promise<void> {
    await this.followNews();
    if (this.cache.entries.length === 0 || this.isStopped) return;
    this.subscription ??= this.notifications.listen(SNAPSHOT_CHANNEL, () => void this.followNews());
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.subscription?.end();
    await this.reading?.catch(() => undefined);
  }

  /**
   * Reads changes if nothing was read for 5 seconds, also in a single process, whose commands may have requested a fetch. Never
   * rejects.
   */
  async poll(): Promise<void> {
    if (this.cache.entries.length > 0 && this.sinceReadMs >= POLL_MS) await this.followQuietly();
  }

  /** Reads changes, at most once a second. More frequent calls share a running read or do nothing. */
  async reread(): Promise<void> {
    if (!this.notifications.hasOtherProcesses) return;
    if (this.reading !== undefined || this.sinceReadMs >= REREAD_MS) await this.follow();
  }

  /** Reads changes. Calls share a running read. */
  follow(): Promise<void> {
    this.reading ??= this.read().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async read(): Promise<void> {
    this.readAtMs = this.clock.monotonicMs();
    const byHash = new Map(this.cache.entries.map((cached) => [cached.address.urlHash, cached]));
    const known = [...byHash.values()].map(({ snapshot }) => snapshot);
    for (const snapshot of await this.snapshots.findChanged(known))
      byHash.get(snapshot.urlHash)?.apply(snapshot);
  }

  /** Reads once more, because a running read may have been too early for the news. */
  private async followNews(): Promise<void> {
    await this.reading?.catch(() => undefined);
    await this.followQuietly();
  }

  private async followQuietly(): Promise<void> {
    try {
      await this.follow();
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing)
        this.logger.warn({ err: error }, 'the stored key sets cannot be read; those in memory stay in use');
      this.isFailing = true;
    }
  }

  private get sinceReadMs(): number {
    return this.clock.monotonicMs() - this.readAtMs;
  }
}
