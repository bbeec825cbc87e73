// What the application is put together from.
import type { Logger } from 'pino';
import type { Coordination } from '../platform/jobs/coordination.js';
import type { OpenDatabase } from '../platform/database/data-source.js';
import type { GracefulShutdown } from '../platform/http/graceful-shutdown.js';
import type { Metrics } from '../metrics/metrics.js';
import type { FrameAncestors } from '../instance/frame-ancestors.js';
import type { Startup } from '../instance/startup.js';
import type { Clock } from '../platform/clock.js';
import type { KeyRing } from '../platform/secrets/key-ring.js';

/** What the application is put together from. */
export interface Parts {
  readonly startup: Startup;
  readonly database: OpenDatabase;
  /** Of the embedded database; undefined on PostgreSQL. */
  readonly dataDirectory?: string;
  readonly coordination: Coordination;
  readonly keyRing: KeyRing;
  readonly frameAncestors: FrameAncestors;
  readonly shutdown: GracefulShutdown;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folder of the compiled sources, beside which the page's files lie. */
  readonly sourceDirectory: string;
}
