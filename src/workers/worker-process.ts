// One worker as the primary process sees it: started, ready, gone.
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { Readable } from 'node:stream';
import type { StandardOutput } from '../logging/logger.js';
import type { MetricsSnapshot } from '../metrics/metrics-snapshot.js';
import type { Joining, PrimaryVerbs, WorkerVerbs } from './verbs.js';
import { WORKER_MARK } from './verbs.js';
import { Channel } from './channel.js';
import { Pulse } from './pulse.js';
import { WorkerOutput } from './worker-output.js';

/** So long a reader of the log is waited for, as at the end of a process. */
const LONGEST_READ_MS = 5_000;

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: string | null;
}

/** What a worker needs of the instance. */
export interface Surroundings {
  readonly output: StandardOutput;
  joining(): Joining;
  gatherMetrics(): Promise<MetricsSnapshot[]>;
  /** What a worker that ends has counted. */
  keep(worker: WorkerProcess, counted: MetricsSnapshot): void;
}

export class WorkerProcess {
  /** What it says of the instance once it answers requests. */
  readonly ready: Promise<object>;
  /** Resolves when nothing more comes of it, unless nobody takes what does. */
  readonly gone: Promise<End>;
  /** Whether it has answered requests. */
  isReady = false;
  /** Whether it was told to end. */
  isLeaving = false;
  private readonly channel: Channel<PrimaryVerbs, WorkerVerbs>;

  private constructor(
    private readonly worker: Worker,
    readonly number: number,
    surroundings: Surroundings,
  ) {
    // Where the system could make no process there may be no output either.
    const output = new WorkerOutput(worker.process.stdout ?? Readable.from([]), surroundings.output);
    const { promise, resolve } = withResolver();
    this.ready = promise;
    this.gone = this.end(output);
    this.channel = new Channel<PrimaryVerbs, WorkerVerbs>(toWorker(worker), {
      join: () => surroundings.joining(),
      ready: (summary) => {
        this.isReady = true;
        resolve(summary);
      },
      gatherMetrics: () => surroundings.gatherMetrics(),
      logWritten: (bytes) => output.written(bytes),
      leave: (counted) => surroundings.keep(this, counted),
    });
  }

  static start(number: number, surroundings: Surroundings): WorkerProcess {
    // Also on Windows, and whatever NODE_CLUSTER_SCHED_POLICY says: a worker takes no connection by itself.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'], serialization: 'advanced' });
    return new WorkerProcess(cluster.fork({ [WORKER_MARK]: String(number) }), number, surroundings);
  }

  get processId(): number | undefined {
    return this.worker.process.pid;
  }

  metrics(): Promise<MetricsSnapshot> {
    return this.channel.ask('metrics');
  }

  /** @param order what it does if it can still be reached */
  order(order: 'apply' | 'stop' | 'leaveSeat' | 'end'): void {
    if (order !== 'apply') this.isLeaving = true;
    this.channel.ask(order).catch(() => undefined);
  }

  /** @param onLost called where it answers nothing for twenty seconds, unless it is gone */
  watch(onLost: () => void): void {
    const pulse = new Pulse(() => this.channel.ask('beat'), onLost);
    void this.gone.then(() => pulse.end());
  }

  kill(): void {
    this.isLeaving = true;
    this.worker.process.kill('SIGKILL');
  }

  private async end(output: WorkerOutput): Promise<End> {
    // Errors come where there is no process, or of messages to one that is just ending, which has its exit as well.
    this.worker.on('error', () => undefined);
    if (this.processId === undefined) return { code: null, signal: null };
    const end = await new Promise<End>((resolve) => {
      this.worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }));
    });
    await output.endedWithin(LONGEST_READ_MS);
    return end;
  }
}

function withResolver(): { promise: Promise<object>; resolve: (summary: object) => void } {
  let resolve: (summary: object) => void = () => undefined;
  const promise = new Promise<object>((resolvePromise) => (resolve = resolvePromise));
  return { promise, resolve };
}

/** A message to a process that is gone is for nobody. */
function toWorker(worker: Worker) {
  return {
    send: (message: object) => void (worker.isConnected() && worker.send(message, () => undefined)),
    receive: (onMessage: (message: unknown) => void, onEnd: () => void) => {
      worker.on('message', onMessage);
      worker.once('exit', onEnd);
    },
  };
}
