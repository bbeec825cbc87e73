// Passes the log lines of a worker on to the output of the instance, whole lines only.
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { StandardOutput } from '../logging/logger.js';

const LINE_END = 10;
/** While so much waits to be read from us, nothing is taken from workers: they keep it, and drop and count what is too much. */
const MOST_UNWRITTEN_BYTES = 1024 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly tell: () => void;
}

/**
 * Lines of several processes stand whole behind one another, since one process writes them (D123). Of a line that a worker
 * was killed in nothing is written.
 */
export class WorkerOutput {
  /** Resolves when the worker's end is closed and all is passed on. */
  readonly ended: Promise<void>;
  private passedBytes = 0;
  private waiting: Waiting[] = [];

  constructor(
    lines: Readable,
    private readonly output: StandardOutput,
  ) {
    this.ended = this.passOn(lines);
  }

  /** The same, or the time is over: while nobody reads, nothing is passed on to its end. */
  async endedWithin(ms: number): Promise<void> {
    await Promise.race([this.ended, pause(ms)]);
  }

  /** Resolves once so many bytes of the worker's are written. */
  async written(bytes: number): Promise<void> {
    if (this.passedBytes < bytes) await new Promise<void>((tell) => this.waiting.push({ bytes, tell }));
    await this.output.written();
  }

  private async passOn(lines: Readable): Promise<void> {
    let begun: Buffer[] = [];
    for await (const chunk of lines as AsyncIterable<Buffer>) {
      const end = chunk.lastIndexOf(LINE_END) + 1;
      if (end > 0) {
        this.output.write(Buffer.concat([...begun, chunk.subarray(0, end)]));
        begun = [];
      }
      if (end < chunk.length) begun.push(chunk.subarray(end));
      this.passed(chunk.length);
      if (this.output.unwrittenBytes > MOST_UNWRITTEN_BYTES) await this.output.written();
    }
  }

  private passed(bytes: number): void {
    this.passedBytes += bytes;
    const reached = this.waiting.filter((one) => one.bytes <= this.passedBytes);
    this.waiting = this.waiting.filter((one) => one.bytes > this.passedBytes);
    for (const { tell } of reached) tell();
  }
}
