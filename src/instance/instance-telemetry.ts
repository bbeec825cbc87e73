// Implements the port to telemetry with this instance's metrics and traces. Also counts the audit events of token exchange.
import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { outcomeOf } from '../audit/instance-events.js';
import { MEMBERSHIP_CHANGES, Metrics } from '../metrics/metrics.js';
import { Tracing } from '../platform/log/tracing.js';
import type {
  AuditEvent,
  EntryEnd,
  Flow,
  KeySetFetchOutcome,
  KeySetFigures,
  KeysHeld,
  ReplayRecords,
  SeatsOfEntry,
  Stage,
  ThrottledFlow,
  TracedStep,
} from '../token-exchange/instance.js';
import { ExchangeTelemetry, FLOWS, OAuthRefusal } from '../token-exchange/instance.js';

const SIGNAL = 'svc.audit.token-exchange.signal';
const PROJECTS_UPDATED = 'svc.audit.token-exchange.projects-updated';

@Injectable()
export class InstanceTelemetry extends ExchangeTelemetry {
  private readonly tracing = Tracing.registered();

  constructor(private readonly metrics: Metrics) {
    super();
  }

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

  observeStage(flow: Flow, stage: Stage, seconds: number): void {
    this.metrics.stageDuration.observe({ flow, stage }, seconds);
  }

  countUnrecordedFailure(flow: Flow, reason = 'internal_error'): void {
    this.metrics.outcomes[FLOWS[flow].outcomes].inc({ outcome: 'failed', reason });
  }

  countThrottled(flow: ThrottledFlow): void {
    this.metrics.throttled.inc({ flow });
  }

  watchKeys(read: () => readonly KeysHeld[]): void {
    this.metrics.watchKeys(read);
  }

  override countRefusal(flow: ThrottledFlow, reason: string): void {
    this.metrics.refusals.inc({ flow, reason });
  }

  override traced<T>(step: TracedStep, work: () => Promise<T>): Promise<T> {
    if (this.tracing === undefined) return work();
    const attributes = 'flow' in step ? { 'svc.flow': step.flow } : { 'svc.entry': step.entry };
    return this.tracing.inSpan({ name: step.name, attributes, reasonOf }, work);
  }

  override countKeySetFetch(outcome: KeySetFetchOutcome): void {
    this.metrics.keySetFetches.inc({ outcome });
  }

  override watchKeySets(read: () => readonly KeySetFigures[]): void {
    this.metrics.watchKeySets(read);
  }

  override watchEnds(read: () => readonly EntryEnd[]): void {
    this.metrics.watchEnds(read);
  }

  override watchSeats(read: () => Promise<readonly SeatsOfEntry[]>): void {
    this.metrics.watchSeats(read);
  }

  override countReplayPurge(outcome: 'succeeded' | 'failed'): void {
    this.metrics.replayPurges.inc({ outcome });
  }

  override countPurgedReplayRecords(count: number): void {
    this.metrics.replayRecordsPurged.inc(count);
  }

  override watchReplayRecords(read: (atMost: number) => Promise<ReplayRecords>): void {
    this.metrics.watchReplayRecords(read);
  }
}

/** Why a token or a request was refused, which is not an error of the span. */
function reasonOf(error: unknown): string | undefined {
  return error instanceof OAuthRefusal ? error.reason : undefined;
}
