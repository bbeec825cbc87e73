// Counts outcomes by listening to the audit events.
import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { outcomeOf } from '../audit/instance-events.js';
import type { AuditEvent } from '../token-exchange/plain.js';
import { MEMBERSHIP_CHANGES, Metrics } from './metrics.js';

const PROJECTS_UPDATED = 'svc.audit.token-exchange.projects-updated';

@Injectable()
export class AuditMetricsSink {
  constructor(private readonly metrics: Metrics) {}

  @OnEvent('svc.audit.**')
  count({ name, payload }: Pick<AuditEvent, 'name' | 'payload'>): void {
    const outcome = outcomeOf(name);
    // Refused API calls are counted where they are refused: not all of them become an event.
    if (outcome === undefined || outcome.of === 'api') return;
    // Their events are those of token exchange.
    const flow = 'flow' in payload && payload.flow === 'id-jag' ? 'id-jag' : outcome.of;
    const reason = 'reason' in payload ? payload.reason : '';
    this.metrics.outcomes[flow].inc({ outcome: outcome.is, reason });
  }

  @OnEvent(PROJECTS_UPDATED)
  countMemberships({ payload }: AuditEvent<typeof PROJECTS_UPDATED>): void {
    for (const change of MEMBERSHIP_CHANGES)
      this.metrics.membershipChanges.inc({ change }, payload[change].length);
  }
}
