// Serves the keys that instances have fetched and stored, for who may only look: it fetches nothing and uses up no budget.
import { AlwaysLeader } from '../../../platform/jobs/leader.js';
import { SoleProcessNotifications } from '../../../platform/jobs/notifications.js';
import type { Clock } from '../../../platform/clock.js';
import { SILENT } from '../../../platform/log/log.js';
import { SilentTelemetry } from '../../host/telemetry.js';
import type { JwksEntry, TrustedKey } from '../trusted-key.js';
import { JwksKeyProvider } from './jwks-key.provider.js';
import type { JwksOptions } from './jwks-options.js';
import type { JwksSnapshotRepository } from './jwks-snapshot.repository.js';

export class StoredJwksKeyProvider extends JwksKeyProvider {
  private constructor(options: JwksOptions, snapshots: JwksSnapshotRepository, clock: Clock) {
    const telemetry = new SilentTelemetry();
    super(options, snapshots, new SoleProcessNotifications(), new AlwaysLeader(), clock, SILENT, telemetry);
  }

  /**
   * Reads what is stored of all entries, once; `onApplicationBootstrap`, which would fetch, is never called.
   * @param stored the entries that are not of the configuration
   * @throws the driver's error
   */
  static async read(
    options: JwksOptions,
    snapshots: JwksSnapshotRepository,
    stored: readonly JwksEntry[],
    clock: Clock,
  ): Promise<StoredJwksKeyProvider> {
    const provider = new StoredJwksKeyProvider(options, snapshots, clock);
    await provider.readStored(stored);
    return provider;
  }

  /** There is no other place to search. */
  protected override search(): Promise<readonly TrustedKey[]> {
    return Promise.resolve([]);
  }
}
