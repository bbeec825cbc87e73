// One worker as the primary process sees it: started, ready, gone.
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import type { StandardOutput } from '../logging/logger.js';
import type { MetricsSnapshot } from '../metrics/metrics-snapshot.js';
import type { Joining, PrimaryVerbs, WorkerVerbs } from './verbs.js';
import { WORKER_MARK } from './verbs.js';
import { Channel } from './channel.js';
import { WorkerOutput } from './worker-output.js';

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
  /** Resolves when nothing more comes of it. */
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
    const lines = worker.process.stdout;
    if (lines === null) throw new Error('a worker has no output');
    const output = new WorkerOutput(lines, surroundings.output);
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

  kill(): void {
    this.isLeaving = true;
    this.worker.process.kill('SIGKILL');
  }

  private async end(output: WorkerOutput): Promise<End> {
    const exit = once(this.worker, 'exit') as Promise<[number | null, string | null]>;
    // Where the system can make no process there is an error instead.
    const ended = await exit.then(([code, signal]) => ({ code, signal })).catch(() => undefined);
    if (ended !== undefined) await output.ended;
    return ended ?? { code: null, signal: null };
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
    send: (message: object) => void worker.send(message, () => undefined),
    receive: (onMessage: (message: unknown) => void, onEnd: () => void) => {
      worker.on('message', onMessage);
      worker.once('exit', onEnd);
    },
  };
}
