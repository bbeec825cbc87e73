// Fetches, stores and follows the published key sets of issuers, clients and transmitters.
import type { BeforeApplicationShutdown, OnApplicationBootstrap, Provider } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { Follower } from '../../../platform/jobs/follower.js';
import { Leader } from '../../../platform/jobs/leader.js';
import { Notifications } from '../../../platform/jobs/notifications.js';
import type { Log } from '../../../platform/log/log.js';
import { LOGGER } from '../../../platform/log/log.js';
import { ExchangeTelemetry } from '../../host/telemetry.js';
import type { TokenExchangeOptions } from '../../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../../settings/token-exchange.options.js';
import type { JwksEntry } from '../trusted-key.js';
import type { JwksCacheEntry } from './jwks-cache-entry.js';
import { applyStored } from './jwks-cache-entry.js';
import { JwksFetcher } from './jwks-fetcher.js';
import { JwksKeyProvider } from './jwks-key.provider.js';
import { JwksRefresh } from './jwks-refresh.js';
import { JwksSnapshotRepository, SNAPSHOT_CHANNEL } from './jwks-snapshot.repository.js';
import { UnknownKidSearch } from './unknown-kid-search.js';

const TICK_MS = 1_000;
/** How soon a change is seen if its notification is lost. */
const POLL_MS = 5_000;

/**
 * The leader fetches and stores key sets, and every instance follows the stored ones. If an endpoint fails, its keys stay for a
 * bounded time. Another key set replaces them at once.
 */
@Injectable()
export class JwksService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly unknownKids: UnknownKidSearch;
  private readonly providers: JwksKeyProvider[] = [];
  private readonly refresh: JwksRefresh;
  private readonly follower: Follower;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'jwks'>,
    private readonly snapshots: JwksSnapshotRepository,
    notifications: Notifications,
    private readonly leader: Leader,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    telemetry: ExchangeTelemetry,
  ) {
    const { jwks } = options;
    const failure = 'the stored key sets cannot be read; those in memory stay in use';
    const followed = { channel: SNAPSHOT_CHANNEL, pollMs: POLL_MS, failure, read: () => this.read() };
    this.follower = new Follower(followed, notifications, clock, logger);
    this.refresh = new JwksRefresh(jwks, new JwksFetcher(jwks), snapshots, clock, logger, telemetry);
    this.unknownKids = new UnknownKidSearch(snapshots, this.follower, this.refresh, clock);
  }

  /** Keys for one purpose, apart from all others. Called before the application starts. */
  provide(entries: readonly JwksEntry[]): JwksKeyProvider {
    const { maxStaleSeconds } = this.options.jwks;
    const provider = new JwksKeyProvider(entries, maxStaleSeconds, this.clock, this.logger, this.unknownKids);
    this.providers.push(provider);
    return provider;
  }

  /**
   * Reads the stored key sets, and starts refreshing in the background.
   * @rule 5.3.1 Keys are fetched when the instance starts; of several instances by the leader, for all.
   */
  async onApplicationBootstrap(): Promise<void> {
    await this.follower.start();
    if (this.leader.isLeader) for (const cached of this.entries) cached.refreshSoon();
    this.timer = setInterval(() => void this.tick(), TICK_MS);
    this.timer.unref();
    void this.tick();
  }

  /** Ends the background work. Waits for a running fetch, 5 seconds at most. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.follower.stop();
    await this.refresh.idle();
  }

  /**
   * Uses stored key sets of new addresses at once. The leader fetches them within a second, since their issuers may have withdrawn
   * keys while no entry named them. Never rejects.
   */
  async begin(added: readonly JwksCacheEntry[]): Promise<void> {
    await this.follower.followNews();
    // Also on followers, because the leader may end before it has fetched them.
    for (const cached of added) cached.refreshSoon();
  }

  /** Fetches what is due now, and resolves when it is done. Called every second. Never rejects. */
  async tick(): Promise<void> {
    // One instance fetches and logs for all.
    if (!this.leader.isLeader) return;
    const nowMs = this.clock.nowMs();
    const due = this.entries.filter((cached) => cached.isDue(nowMs));
    await Promise.all(due.map((cached) => this.refresh.refresh(cached)));
    if (!this.leader.isLeader) return;
    for (const cached of this.entries) cached.tellState(this.clock.nowMs(), this.clock.monotonicMs());
  }

  private read(): Promise<void> {
    return applyStored(this.snapshots, this.entries);
  }

  private get entries(): readonly JwksCacheEntry[] {
    return this.providers.flatMap(({ cached }) => cached);
  }
}

const ISSUERS_KEYS: Provider = {
  provide: JwksKeyProvider,
  inject: [JwksService, TOKEN_EXCHANGE_OPTIONS],
  useFactory: (jwks: JwksService, { trustedKeys }: TokenExchangeOptions) =>
    jwks.provide(trustedKeys.filter((entry) => entry.type === 'jwks')),
};

export const JWKS_PROVIDERS = [JwksSnapshotRepository, JwksService, ISSUERS_KEYS];
