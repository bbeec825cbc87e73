// Sends the service's spans to a collector, by OTLP over HTTP: `node --import ./otel.mjs dist/src/main.js`.
//
// Install beside the service: npm install @opentelemetry/sdk-trace-node@2 @opentelemetry/exporter-trace-otlp-http@0.223.1
// The collector: OTEL_EXPORTER_OTLP_ENDPOINT, else http://localhost:4318. How many traces: TRACED_SHARE, 0 to 1, else all.
import process from 'node:process';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';

const provider = new NodeTracerProvider({
  // Not ParentBasedSampler, the default: by its traceparent every stranger could say what is recorded.
  sampler: new TraceIdRatioBasedSampler(Number(process.env.TRACED_SHARE ?? 1)),
  // Holds 2,048 spans at most, and drops what is more.
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();

// The service ends its process itself, a moment after it has answered the last request: what is left goes first.
process.once('SIGTERM', () => void provider.forceFlush());
process.once('SIGINT', () => void provider.forceFlush());
