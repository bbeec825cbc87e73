// Sends the service's spans to a collector, by OTLP over HTTP: `node --import ./otel.mjs dist/src/main.js`.
//
// Install next to the service: npm install --ignore-scripts @opentelemetry/sdk-trace-node@2 @opentelemetry/exporter-trace-otlp-http@0.223.1
// OTEL_EXPORTER_OTLP_ENDPOINT is the collector (default http://localhost:4318), TRACED_SHARE the share of traces, 0 to 1 (default 1).
import process from 'node:process';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  SamplingDecision,
} from '@opentelemetry/sdk-trace-node';

const share = Number(process.env.TRACED_SHARE ?? 1);
/** Samples at random, not by trace id or flag: a client chooses both in its traceparent. */
const chance = {
  shouldSample: () => ({
    decision: Math.random() < share ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  }),
  toString: () => `a share of ${share}`,
};

const provider = new NodeTracerProvider({
  // A child of the service's own span is sampled like its parent. A caller's traceparent is ignored.
  sampler: new ParentBasedSampler({
    root: chance,
    remoteParentSampled: chance,
    remoteParentNotSampled: chance,
  }),
  // Keeps at most 2,048 spans and drops the rest.
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();

// The service ends its process shortly after it has answered the last request. At the signal, the collected spans are sent at
// once. Later ones may be lost; OTEL_BSP_SCHEDULE_DELAY (milliseconds) limits the time.
process.once('SIGTERM', () => void provider.forceFlush());
process.once('SIGINT', () => void provider.forceFlush());
