// The port to telemetry, on this instance's metrics.
import { Injectable } from '@nestjs/common';
import { Metrics } from '../metrics/metrics.js';
import type { Flow } from '../token-exchange/flow.js';
import type { KeysHeld, Stage, ThrottledFlow } from '../token-exchange/host.js';
import { ExchangeTelemetry } from '../token-exchange/host.js';

@Injectable()
export class InstanceTelemetry extends ExchangeTelemetry {
  constructor(private readonly metrics: Metrics) {
    super();
  }

  observeStage(flow: Flow, stage: Stage, seconds: number): void {
    this.metrics.stageDuration.observe({ flow, stage }, seconds);
  }

  countUnrecordedFailure(flow: Flow): void {
    const outcomes = flow === 'exchange' ? this.metrics.exchanges : this.metrics.embedLogins;
    outcomes.inc({ outcome: 'failed', reason: 'internal_error' });
  }

  countThrottled(flow: ThrottledFlow): void {
    this.metrics.throttled.inc({ flow });
  }

  watchKeys(read: () => readonly KeysHeld[]): void {
    this.metrics.watchKeys(read);
  }
}
