// What a host without metrics has in their place.
import { ExchangeTelemetry } from './telemetry.js';

export class SilentTelemetry extends ExchangeTelemetry {
  observeStage(): void {
    // Nobody measures.
  }

  countThrottled(): void {
    // Nobody counts.
  }

  countUnrecordedFailure(): void {
    // The log has it.
  }

  watchKeys(): void {
    // Nobody watches.
  }
}
