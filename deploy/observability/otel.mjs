// Sends the service's spans to a collector, by OTLP over HTTP: `node --import ./otel.mjs dist/src/main.js`.
//
// Install beside the service: npm install --ignore-scripts @opentelemetry/sdk-trace-node@2 @opentelemetry/exporter-trace-otlp-http@0.223.1
// The collector: OTEL_EXPORTER_OTLP_ENDPOINT, else http://localhost:4318. How many traces: TRACED_SHARE, 0 to 1, else all.
import process from 'node:process';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  SamplingDecision,
} from '@opentelemetry/sdk-trace-node';

const share = Number(process.env.TRACED_SHARE ?? 1);
/** By chance, not by trace id: a stranger chooses that, in its traceparent, as it chooses the flag. */
const chance = {
  shouldSample: () => ({
    decision: Math.random() < share ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  }),
  toString: () => `a share of ${share}`,
};

const provider = new NodeTracerProvider({
  // A span within a span of the service goes the same way; of a caller's traceparent nothing is believed.
  sampler: new ParentBasedSampler({
    root: chance,
    remoteParentSampled: chance,
    remoteParentNotSampled: chance,
  }),
  // Holds 2,048 spans at most, and drops what is more.
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();

// The service ends its process itself, a moment after it has answered the last request: what has gathered by the signal goes at
// once. Of what comes later the last seconds may be lost: OTEL_BSP_SCHEDULE_DELAY (milliseconds) says how many.
process.once('SIGTERM', () => void provider.forceFlush());
process.once('SIGINT', () => void provider.forceFlush());
