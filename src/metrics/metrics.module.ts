// The instance's metrics and their listener.
import { Inject, Injectable, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { AuditJobsModule } from '../audit/audit-jobs.module.js';
import { outcomeOf } from '../audit/instance-events.js';
import { AuditStreaming } from '../audit/sinks/audit-streaming.js';
import { License } from '../config/license.js';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Clock } from '../platform/clock.js';
import { Database } from '../platform/database/database.js';
import { Leader } from '../platform/jobs/leader.js';
import type { Log } from '../platform/log/log.js';
import { LOGGER } from '../platform/log/log.js';
import type { AuditEvent } from '../token-exchange/instance.js';
import { FLOWS } from '../token-exchange/instance.js';
import { MEMBERSHIP_CHANGES, Metrics } from './metrics.js';
import { metricsAddress, MetricsListener } from './metrics.listener.js';

const SIGNAL = 'svc.audit.token-exchange.signal';
const PROJECTS_UPDATED = 'svc.audit.token-exchange.projects-updated';

@Injectable()
export class AuditMetricsSink {
  constructor(private readonly metrics: Metrics) {}

  @OnEvent('svc.audit.**')
  count({ name, payload }: Pick<AuditEvent, 'name' | 'payload'>): void {
    const outcome = outcomeOf(name);
    // Refused API calls are counted where they are refused, because not all of them become events.
    if (outcome === undefined || outcome.of === 'api') return;
    // Several flows share the events of token exchange.
    const flow = ('flow' in payload && payload.flow) || outcome.of;
    const reason = 'reason' in payload ? payload.reason : '';
    this.metrics.outcomes[FLOWS[flow].outcomes].inc({ outcome: outcome.is, reason });
  }

  @OnEvent(SIGNAL)
  countSignal({ payload: { event, effect } }: AuditEvent<typeof SIGNAL>): void {
    this.metrics.securityEvents.inc({ event, effect });
  }

  @OnEvent(PROJECTS_UPDATED)
  countMemberships({ payload }: AuditEvent<typeof PROJECTS_UPDATED>): void {
    for (const change of MEMBERSHIP_CHANGES)
      this.metrics.membershipChanges.inc({ change }, payload[change].length);
  }
}

@Module({
  imports: [AuditJobsModule],
  providers: [
    AuditMetricsSink,
    { provide: MetricsListener, inject: [Metrics, STARTUP, LOGGER], useFactory: listenerOf },
  ],
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
