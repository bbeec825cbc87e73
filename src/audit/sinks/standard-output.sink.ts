// Writes audit events to standard output, for a log collector.
import { setTimeout as pause } from 'node:timers/promises';
import type { LineOutput } from '../../platform/log/logger.js';
import type { StreamedEvent } from './audit-sink.js';
import { AuditSink, SinkError } from './audit-sink.js';

const WRITE_MS = 10_000;

/** Uses the log's output, so that lines of both are never mixed. */
export class StandardOutputSink extends AuditSink {
  readonly name = 'stdout';

  constructor(private readonly output: LineOutput) {
    super();
  }

  async deliver(events: readonly StreamedEvent[], signal: AbortSignal): Promise<void> {
    // A full output drops lines, so the earlier lines must be written first.
    await this.untilWritten(signal);
    for (const { json } of events)
      if (!this.output.write(`{"type":"audit-event",${json.slice(1)}\n`))
        throw new SinkError('standard output is full: it is read more slowly than it is written');
    await this.untilWritten(signal);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private async untilWritten(signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const either = AbortSignal.any([signal, waiting.signal]);
    const late = pause(WRITE_MS, true, { signal: either, ref: false }).catch(() => true);
    const isLate = await Promise.race([late, this.output.written().then(() => false)]);
    waiting.abort();
    if (isLate) throw new SinkError(`standard output was not read for ${WRITE_MS / 1000} seconds`);
    if (!this.output.hasReader) throw new SinkError('standard output is closed: its reader has ended');
  }
}
