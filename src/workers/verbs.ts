// What the primary process and its workers may ask of each other.
import type { MetricsSnapshot } from '../metrics/metrics-snapshot.js';
import type { FileRecord } from '../start/file-record.js';
import type { Seat } from '../start/workers.js';

/** In the environment of a worker that the primary has started: another program may start the service as a worker of its own. */
export const WORKER_MARK = 'EMBEDDED_TOKEN_EXCHANGE_WORKER';

/** What a worker begins with. */
export interface Joining {
  readonly seat: Seat;
  /** What reading files brought when the primary judged the configuration. */
  readonly files: FileRecord['outcomes'];
  /** Whether it applies for the leadership. */
  readonly isCandidate: boolean;
}

/** Asked of the primary. */
export interface PrimaryVerbs {
  join(): Joining;
  /** The worker answers requests. @param summary what is told of the instance when all of them do */
  ready(summary: object): void;
  /** What all workers have counted. */
  gatherMetrics(): Promise<MetricsSnapshot[]>;
  /** Answered once so many bytes of the worker's output have left the primary. */
  logWritten(bytes: number): Promise<void>;
  /** The last word of a worker that ends by itself. */
  leave(counted: MetricsSnapshot): void;
}

/** Asked of a worker. */
export interface WorkerVerbs {
  /** Apply for the leadership. */
  apply(): Promise<void>;
  /** Stop, as the whole instance does. */
  stop(): void;
  /** Leave: another worker has the seat. */
  leaveSeat(): void;
  /** End at once. */
  end(): void;
  metrics(): Promise<MetricsSnapshot>;
  /** Answered by an event loop that turns, and for nothing else. */
  beat(): void;
}
