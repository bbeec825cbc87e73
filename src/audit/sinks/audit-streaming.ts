// Runs the streams to all sinks while this process is the leader, and reports their state.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import { PeriodicJob } from '../../platform/jobs/periodic.job.js';
import type { AuditSink } from './audit-sink.js';
import type { StreamParts } from './sink-stream.js';
import { SinkStream } from './sink-stream.js';

const INTERVAL_SECONDS = 1;

/** The state of a sink's stream, for metrics. */
export interface SinkStatus {
  readonly sink: string;
  /** Events that this process has delivered, including repeated ones. */
  readonly delivered: number;
  readonly failures: number;
  /** Undefined if another process is the leader, or before the first check. */
  readonly backlog?: { readonly events: number; readonly seconds: number; readonly blockedSeconds: number };
}

interface StreamingParts extends StreamParts {
  readonly leader: Leader;
}

/** Streams the audit trail, but only on the leader (D87). */
export class AuditStreaming implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** The sinks for which events are kept. */
  readonly sinkNames: readonly string[];
  private readonly streams: readonly SinkStream[];
  private readonly jobs: readonly PeriodicJob[];
  private readonly stopping = new AbortController();

  constructor(
    sinks: readonly AuditSink[],
    private readonly parts: StreamingParts,
  ) {
    this.sinkNames = sinks.map(({ name }) => name);
    this.streams = sinks.map((sink) => new SinkStream(sink, parts));
    this.jobs = this.streams.map((stream) => this.jobOf(stream));
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.warnOfFormerSinks();
    for (const job of this.jobs) job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.jobs.map((job) => job.stop()));
    await Promise.all(this.streams.map(({ sink }) => sink.close()));
  }

  status(): SinkStatus[] {
    const { isLeader } = this.parts.leader;
    return this.streams.map(({ sink, counts, backlog }) => ({
      sink: sink.name,
      ...counts,
      ...(isLeader && backlog !== undefined && { backlog }),
    }));
  }

  private jobOf(stream: SinkStream): PeriodicJob {
    const { leader, log } = this.parts;
    const run = (mayGoOn: MayGoOn) => stream.run(mayGoOn, this.stopping.signal);
    return new PeriodicJob(
      { name: `audit-sink ${stream.sink.name}`, intervalSeconds: INTERVAL_SECONDS, run },
      leader,
      log,
    );
  }

  /**
   * Warns about a cursor whose sink is not configured. The sink may be missing by mistake, and no events are
   * kept for it.
   */
  private async warnOfFormerSinks(): Promise<void> {
    const { cursors, log } = this.parts;
    const all = await cursors.all();
    for (const { name, movedAt } of all.filter((cursor) => !this.sinkNames.includes(cursor.name))) {
      log.warn(
        { sink: name, movedAt },
        'a sink of the audit trail is no longer configured: no events are kept for it; if it is configured again, it continues at its position',
      );
    }
  }
}
