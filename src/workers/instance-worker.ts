// One of several worker processes: takes orders from the primary process, and reports to it.
import type { Registry } from 'prom-client';
import { AggregatorRegistry } from 'prom-client';

/** In the environment of a worker that the primary has started: another program may start the service as a worker of its own. */
export const WORKER_MARK = 'EMBEDDED_TOKEN_EXCHANGE_WORKER';

/** How often a worker reports that its event loop runs. */
export const HEARTBEAT_MS = 2_000;

export type ToPrimary =
  | { readonly kind: 'heartbeat' | 'metrics' }
  /** It answers requests. */
  | { readonly kind: 'ready'; readonly summary: object };

export type ToWorker =
  /** `stop`: the instance stops. `leave`: another worker takes the place of this one. */
  | { readonly kind: 'stop' | 'leave' }
  /** Answers `metrics`: those of all workers; undefined where one of them has not answered. */
  | { readonly kind: 'metrics'; readonly text: string | undefined };

/** Orders of the primary to a worker that answers requests. */
export interface Orders {
  stop(): void;
  leave(): void;
}

export class InstanceWorker {
  private orders: Orders | undefined;
  private readonly awaiting: ((text: string | undefined) => void)[] = [];

  /** @param number from 1 on; it stays when the process is replaced */
  constructor(readonly number: number) {
    // Before Node.js exits by itself, which may wait for its own threads for ever.
    process.prependOnceListener('disconnect', () => process.kill(process.pid, 'SIGKILL'));
    // A terminal and a service manager send them to all processes; the primary handles them for all.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
    process.on('message', (message: ToWorker) => this.take(message));
    setInterval(() => send({ kind: 'heartbeat' }), HEARTBEAT_MS).unref();
    // Answers from now on, so that a worker that starts does not hold up the metrics of the others.
    new AggregatorRegistry();
  }

  obey(orders: Orders): void {
    this.orders = orders;
  }

  ready(summary: object): void {
    send({ kind: 'ready', summary });
  }

  /** Adds this registry to the metrics of the instance, with the worker's number at each series. */
  offerMetrics(registry: Registry): void {
    registry.setDefaultLabels({ worker: String(this.number) });
    AggregatorRegistry.setRegistries(registry);
  }

  /**
   * Those of all workers, as text.
   * @throws Error where one of them has not answered within five seconds
   */
  async instanceMetrics(): Promise<string> {
    const text = await new Promise<string | undefined>((resolve) => {
      this.awaiting.push(resolve);
      send({ kind: 'metrics' });
    });
    if (text === undefined) throw new Error('a worker has not answered what it has counted');
    return text;
  }

  private take(message: ToWorker): void {
    if (message.kind === 'metrics') for (const resolve of this.awaiting.splice(0)) resolve(message.text);
    // prom-client sends messages of its own, which have no kind.
    else if (message.kind) this.orders?.[message.kind]();
  }
}

/** A message that cannot be sent is for a primary that has ended, with which its workers end. */
function send(message: ToPrimary): void {
  process.send?.(message, undefined, undefined, () => undefined);
}
