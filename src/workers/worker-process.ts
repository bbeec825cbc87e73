// One worker as the primary process sees it: started, ready, ended.
import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { StandardOutput } from '../logging/logger.js';
import type { FileRecord } from '../start/file-record.js';
import type { Counted, ToPrimary, ToWorker } from './messages.js';
import { WORKER_MARK } from './messages.js';

const LINE_END = 10;
/** While so much waits to be read, nothing is taken from workers: they keep it, and drop and count what is too much. */
const MOST_UNWRITTEN_BYTES = 1024 * 1024;
/** How long a reader of the log is waited for when a worker has ended. */
const LONGEST_READ_MS = 5_000;

/** Longer than a worker waits for its database. */
const LONGEST_COUNT_MS = 4_000;

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: string | null;
}

export class WorkerProcess {
  /** Resolves with what it says of the instance when it answers requests; with undefined where it ended instead. */
  readonly ready: Promise<object | undefined>;
  /** Resolves when its lines are passed on as well. */
  readonly ended: Promise<End>;
  isReady = false;
  /** Whether another one takes its place. */
  isLeaving = false;
  /** How many heartbeats are missing. */
  missedBeats = 0;
  private readonly worker: Worker;
  private readonly awaiting: ((counted: Counted) => void)[] = [];

  /**
   * @param number from 1 on
   * @param files that the configuration names, as they were read
   * @param metrics those of all workers, as text
   */
  constructor(
    readonly number: number,
    private readonly files: FileRecord,
    output: StandardOutput,
    private readonly metrics: () => Promise<string>,
  ) {
    // Also on Windows, and whatever NODE_CLUSTER_SCHED_POLICY says: a worker takes no connection by itself.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'], serialization: 'advanced' });
    this.worker = cluster.fork({ [WORKER_MARK]: String(number) });
    this.worker.on('error', () => undefined);
    this.ended = this.end(output);
    this.ready = new Promise((resolve) => {
      this.worker.on('message', (message: ToPrimary) => this.take(message, resolve));
      void this.ended.then(() => resolve(undefined));
    });
  }

  get processId(): number | undefined {
    return this.worker.process.pid;
  }

  /** A message to a process that has ended is dropped. */
  send(message: ToWorker): void {
    if (this.worker.isConnected()) this.worker.send(message, () => undefined);
  }

  kill(): void {
    this.worker.process.kill('SIGKILL');
  }

  /** What it has counted; undefined where it does not answer within four seconds. */
  counted(): Promise<Counted | undefined> {
    const answer = new Promise<Counted>((resolve) => this.awaiting.push(resolve));
    this.send({ kind: 'count' });
    return Promise.race([answer, pause(LONGEST_COUNT_MS, undefined, { ref: false })]);
  }

  private take(message: ToPrimary, onReady: (summary: object) => void): void {
    switch (message.kind) {
      case 'heartbeat':
        this.missedBeats = 0;
        return;
      case 'begin':
        return this.send({ kind: 'begin', files: this.files.outcomes });
      case 'ready':
        this.isReady = true;
        return onReady(message.summary);
      case 'metrics':
        return void this.metrics().then((text) => this.send({ kind: 'metrics', text }));
      case 'counted':
        for (const resolve of this.awaiting.splice(0)) resolve(message.counted);
    }
  }

  private async end(output: StandardOutput): Promise<End> {
    const passedOn = passOnLines(this.worker.process.stdout ?? Readable.from([]), output);
    // Where the system could make no process there is no exit either.
    if (this.processId === undefined) return { code: null, signal: null };
    const [code, signal] = (await once(this.worker, 'exit')) as [number | null, string | null];
    await Promise.race([passedOn, pause(LONGEST_READ_MS)]);
    return { code, signal };
  }
}

/**
 * Passes whole lines on: where several processes write to one pipe, lines that are longer than the system writes in one piece
 * (4 KiB on Linux) are torn. Of a line that a worker was killed in nothing is written.
 */
export async function passOnLines(
  lines: Readable,
  output: Pick<StandardOutput, 'write' | 'written' | 'unwrittenBytes'>,
): Promise<void> {
  let begun: Buffer[] = [];
  for await (const chunk of lines as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(LINE_END) + 1;
    if (end > 0) {
      output.write(Buffer.concat([...begun, chunk.subarray(0, end)]));
      begun = [];
    }
    if (end < chunk.length) begun.push(chunk.subarray(end));
    if (output.unwrittenBytes > MOST_UNWRITTEN_BYTES) await output.written();
  }
}
