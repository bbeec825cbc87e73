// The metrics of the service and their names.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** From 0.2 ms to 2.5 s: a stage takes a fraction of a millisecond when all is well, seconds when a database is away. */
const STAGE_BUCKETS_SECONDS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];

/** One registry per application. Labels hold words of ours and configured issuers: nothing that a client sent. */
export class Metrics {
  readonly registry = new Registry();

  readonly exchanges = new Counter({
    name: 'svc_token_exchanges_total',
    help: 'Token exchanges by outcome and, where refused, reason.',
    labelNames: ['outcome', 'reason'] as const,
    registers: [this.registry],
  });

  readonly embedLogins = new Counter({
    name: 'svc_embed_logins_total',
    help: 'Embedded logins by outcome and, where refused, reason.',
    labelNames: ['outcome', 'reason'] as const,
    registers: [this.registry],
  });

  readonly stageDuration = new Histogram({
    name: 'svc_stage_duration_seconds',
    help: 'Time of each stage of a flow.',
    labelNames: ['flow', 'stage'] as const,
    buckets: STAGE_BUCKETS_SECONDS,
    registers: [this.registry],
  });

  readonly throttled = new Counter({
    name: 'svc_throttle_refusals_total',
    help: 'Requests refused because their address, their trusted key entry, or at the API their caller, was over its limit.',
    labelNames: ['flow'] as const,
    registers: [this.registry],
  });

  readonly apiRefusals = new Counter({
    name: 'svc_api_refusals_total',
    help: 'Calls refused for their Bearer credential, by reason.',
    labelNames: ['reason'] as const,
    registers: [this.registry],
  });

  readonly throttleFailOpen = new Counter({
    name: 'svc_throttle_fail_open_total',
    help: 'Requests let through uncounted because the shared throttle store did not answer.',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Registered only where there is a licence: without one nothing ends. */
  watchLicense(secondsLeft: () => number): void {
    new Gauge({
      name: 'svc_license_expires_seconds',
      help: 'Seconds until the licence ends; below 0 since it has ended.',
      registers: [this.registry],
      collect() {
        this.set(secondsLeft());
      },
    });
  }

  /** Counts keys whenever metrics are read, so that the number is never older than that. */
  watchKeys(read: () => readonly { entry: string; issuer: string; count: number }[]): void {
    new Gauge({
      name: 'svc_trusted_keys',
      help: 'Usable keys of each trusted key entry.',
      labelNames: ['entry', 'issuer'] as const,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { entry, issuer, count } of read()) this.inc({ entry, issuer }, count);
      },
    });
  }
}
