// The instance's metrics and their listener.
import { Inject, Module } from '@nestjs/common';
import { AuditJobsModule } from '../audit/audit-jobs.module.js';
import { AuditStreaming } from '../audit/sinks/audit-streaming.js';
import { License } from '../config/license.js';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Clock } from '../platform/clock.js';
import { Database } from '../platform/database/database.js';
import { Leader } from '../platform/jobs/leader.js';
import type { Log } from '../platform/log/log.js';
import { LOGGER } from '../platform/log/log.js';
import { Metrics } from './metrics.js';
import { metricsAddress, MetricsListener } from './metrics.listener.js';

@Module({
  imports: [AuditJobsModule],
  providers: [{ provide: MetricsListener, inject: [Metrics, STARTUP, LOGGER], useFactory: listenerOf }],
})
export class MetricsModule {
  constructor(
    metrics: Metrics,
    database: Database,
    leader: Leader,
    streaming: AuditStreaming,
    clock: Clock,
    @Inject(STARTUP) { license }: Startup,
  ) {
    metrics.watchLeader(() => leader.isLeader);
    metrics.watchSinks(() => streaming.status());
    metrics.watchDatabase(
      () => database.state,
      () => database.query('SELECT 1'),
    );
    const endsAtMs = license.expiresAt.getTime();
    // An invalid expiry date has no remaining time.
    if (license === License.NONE || Number.isNaN(endsAtMs)) return;
    metrics.watchLicense(() => (endsAtMs - clock.nowMs()) / 1000);
  }
}

/** Undefined if metrics are not served. */
function listenerOf(metrics: Metrics, startup: Startup, log: Log): MetricsListener | undefined {
  const address = metricsAddress(startup);
  return address && new MetricsListener(metrics, address, log);
}
