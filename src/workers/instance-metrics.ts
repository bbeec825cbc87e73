// What all workers of an instance have counted, those that are gone included.
import { setTimeout as pause } from 'node:timers/promises';
import type { MetricsSnapshot } from '../metrics/metrics-snapshot.js';
import { lastingOf } from '../metrics/metrics-snapshot.js';

/** Longer than a worker waits for its database. */
const PATIENCE_MS = 4_000;

interface CountingWorker {
  metrics(): Promise<MetricsSnapshot>;
}

/** Metrics are of the whole instance, whichever worker is asked, and no counter of it falls when a worker ends (D123). */
export class InstanceMetrics {
  /** What each worker has told last: it stands in where one does not answer in time. */
  private readonly latest = new Map<CountingWorker, MetricsSnapshot>();
  private readonly gone = new WeakSet<CountingWorker>();
  private ofGone: Promise<MetricsSnapshot> = Promise.resolve([]);

  async gather(workers: Iterable<CountingWorker>): Promise<MetricsSnapshot[]> {
    await Promise.all([...workers].map((worker) => this.ask(worker)));
    return [...this.latest.values(), await this.ofGone];
  }

  /** A worker that still runs has told what it has counted. */
  keep(worker: CountingWorker, counted: MetricsSnapshot): void {
    if (!this.gone.has(worker)) this.latest.set(worker, counted);
  }

  /** A worker is gone. */
  retire(worker: CountingWorker): void {
    const counted = this.latest.get(worker);
    this.latest.delete(worker);
    this.gone.add(worker);
    if (counted !== undefined) this.ofGone = this.ofGone.then((before) => lastingOf([before, counted]));
  }

  private async ask(worker: CountingWorker): Promise<void> {
    const answer = worker.metrics().catch(() => undefined);
    const late = pause(PATIENCE_MS, undefined, { ref: false });
    const counted = await Promise.race([answer, late]);
    if (counted !== undefined) this.keep(worker, counted);
  }
}
