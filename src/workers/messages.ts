// What the primary process and its workers send each other.
import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { FileRecord } from '../start/file-record.js';

/** In the environment of a worker that the primary has started: another program may start the service as a worker of its own. */
export const WORKER_MARK = 'EMBEDDED_TOKEN_EXCHANGE_WORKER';

/** A worker says so often that its event loop turns. */
export const HEARTBEAT_MS = 2_000;

/** What one worker has counted. */
export type Counted = MetricObjectWithValues<MetricValue<string>>[];

export type ToPrimary =
  | { readonly kind: 'heartbeat' | 'begin' | 'metrics' }
  | { readonly kind: 'counted'; readonly counted: Counted }
  /** It answers requests. */
  | { readonly kind: 'ready'; readonly summary: object };

export type ToWorker =
  /** `stop`: the instance stops. `leave`: another worker takes the place of this one. */
  | { readonly kind: 'stop' | 'leave' | 'count' }
  /** Answers `begin`: what reading files brought when the primary checked the configuration. */
  | { readonly kind: 'begin'; readonly files: FileRecord['outcomes'] }
  /** Answers `metrics`: those of all workers. */
  | { readonly kind: 'metrics'; readonly text: string };
