// One worker as the primary process sees it: started, ready, ended.
import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { StandardOutput } from '../platform/log/logger.js';
import type { ToPrimary, ToWorker } from './instance-worker.js';
import { WORKER_MARK } from './instance-worker.js';

const LINE_END = 10;
/** While so much waits to be read, nothing is taken from workers: they keep it, and drop and count what is too much. */
const MOST_UNWRITTEN_BYTES = 1024 * 1024;
/** How long a reader of the log is waited for when a worker has ended. */
const LONGEST_READ_MS = 5_000;

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: string | null;
}

export class WorkerProcess {
  /** Resolves with what it reports of the instance when it answers requests; with undefined where it ended instead. */
  readonly ready: Promise<object | undefined>;
  /** Resolves when its lines are passed on as well. */
  readonly ended: Promise<End>;
  isReady = false;
  /** Whether another one takes its place. */
  isLeaving = false;
  missedBeats = 0;
  private readonly worker: Worker;

  /**
   * @param number from 1 on
   * @param workers how many the instance has; the file `.env` may name another number by now
   * @param metrics those of all workers, as text
   */
  constructor(
    readonly number: number,
    workers: number,
    output: StandardOutput,
    private readonly metrics: () => Promise<string>,
  ) {
    this.worker = cluster.fork({ [WORKER_MARK]: String(number), SVC_WORKERS: String(workers) });
    this.worker.on('error', () => undefined);
    this.ended = this.end(output);
    this.ready = new Promise((resolve) => {
      this.worker.on('message', (message: ToPrimary) => this.take(message, resolve));
      void this.ended.then(() => resolve(undefined));
    });
  }

  get logFields(): { worker: number; pid: number | undefined } {
    return { worker: this.number, pid: this.worker.process.pid };
  }

  /** A message to a process that has ended is dropped. */
  send(message: ToWorker): void {
    if (this.worker.isConnected()) this.worker.send(message, () => undefined);
  }

  kill(): void {
    this.worker.process.kill('SIGKILL');
  }

  private take(message: ToPrimary, onReady: (summary: object) => void): void {
    if (message.kind === 'heartbeat') this.missedBeats = 0;
    else if (message.kind === 'metrics') void this.answerMetrics();
    else if (message.kind === 'ready') {
      this.isReady = true;
      onReady(message.summary);
    }
  }

  private async answerMetrics(): Promise<void> {
    const text = await this.metrics().catch(() => undefined);
    this.send({ kind: 'metrics', text });
  }

  private async end(output: StandardOutput): Promise<End> {
    const passedOn = passOnLines(this.worker.process.stdout ?? Readable.from([]), output);
    // Where the system could make no process there is no exit either.
    if (this.worker.process.pid === undefined) return { code: null, signal: null };
    // Not by `once` of node:events, which rejects where a message to a dead worker fails first.
    const end = await new Promise<End>((resolve) =>
      this.worker.once('exit', (code, signal) => resolve({ code, signal })),
    );
    await Promise.race([passedOn, pause(LONGEST_READ_MS)]);
    return end;
  }
}

/**
 * Passes whole lines on: where several processes write to one pipe, lines that are longer than the system writes in one piece
 * (4 KiB on Linux) are torn. Of a line that a worker was killed in nothing is written.
 */
export async function passOnLines(
  lines: Readable,
  output: Pick<StandardOutput, 'write' | 'written' | 'unwrittenBytes' | 'hasReader'>,
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
    // The worker's own output closes as well, so that its sink of the audit trail stops.
    if (!output.hasReader) return;
  }
}
