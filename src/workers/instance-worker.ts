// A worker process as it sees its instance: what it begins with, what the primary process orders, and the metrics of all.
import type { Registry } from 'prom-client';
import { FileRecord } from '../start/file-record.js';
import type { ToPrimary, ToWorker } from './messages.js';
import { HEARTBEAT_MS } from './messages.js';

/** What the primary may order once the worker answers requests. */
export interface Orders {
  stop(): void;
  leave(): void;
}

export class InstanceWorker {
  /** The files that the configuration names, as the primary has read them. */
  files = new FileRecord();
  private registry: Registry | undefined;
  private orders: Orders | undefined;
  private readonly awaiting: ((text: string) => void)[] = [];

  /** @param number from 1 on; it stays when the process is replaced */
  private constructor(readonly number: number) {}

  static async begin(number: number): Promise<InstanceWorker> {
    const worker = new InstanceWorker(number);
    // Before Node.js exits by itself, which may wait for its own threads for ever.
    process.prependOnceListener('disconnect', () => process.kill(process.pid, 'SIGKILL'));
    // A terminal and a service manager send them to all processes: the primary obeys them for all.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
    setInterval(() => send({ kind: 'heartbeat' }), HEARTBEAT_MS).unref();
    await new Promise<void>((resolve) => {
      process.on('message', (message: ToWorker) => worker.take(message, resolve));
      send({ kind: 'begin' });
    });
    return worker;
  }

  obey(orders: Orders): void {
    this.orders = orders;
  }

  ready(summary: object): void {
    send({ kind: 'ready', summary });
  }

  /** Has the metrics of all workers hold this registry, with the worker's number at each series. */
  offerMetrics(registry: Registry): void {
    registry.setDefaultLabels({ worker: String(this.number) });
    this.registry = registry;
  }

  /** Those of all workers that answer within four seconds, as text. */
  instanceMetrics(): Promise<string> {
    return new Promise((resolve) => {
      this.awaiting.push(resolve);
      send({ kind: 'metrics' });
    });
  }

  private take(message: ToWorker, onBegin: () => void): void {
    switch (message.kind) {
      case 'begin':
        this.files = new FileRecord(message.files);
        return onBegin();
      case 'count':
        return void this.registry?.getMetricsAsJSON().then((counted) => send({ kind: 'counted', counted }));
      case 'metrics':
        for (const resolve of this.awaiting.splice(0)) resolve(message.text);
        return;
      default:
        this.orders?.[message.kind]();
    }
  }
}

/** A message that cannot be sent is for a primary that has ended, with which its workers end. */
function send(message: ToPrimary): void {
  process.send?.(message, undefined, undefined, () => undefined);
}
