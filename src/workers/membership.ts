// What a worker process has of the instance that it belongs to: its seat, and a channel to the primary process.
import type { Appointment } from '../coordination/coordination.js';
import type { MetricsSnapshot } from '../metrics/metrics-snapshot.js';
import { FileRecord } from '../start/file-record.js';
import type { Seat } from '../start/workers.js';
import { Channel } from './channel.js';
import type { Joining, PrimaryVerbs, WorkerVerbs } from './verbs.js';

/** What the primary may order. */
export type Orders = Pick<WorkerVerbs, 'stop' | 'leaveSeat' | 'end'>;

/** How a process may end before it has anything that would have to end first. */
const AT_ONCE: Orders = {
  stop: () => process.exit(0),
  leaveSeat: () => process.exit(0),
  end: () => process.exit(1),
};

/** Of what a worker counts, before it counts. */
const NOTHING = (): Promise<MetricsSnapshot> => Promise.resolve([]);

export class Membership {
  private readonly primary: Channel<WorkerVerbs, PrimaryVerbs>;
  private joined: Joining | undefined;
  private orders = AT_ONCE;
  private counted = NOTHING;
  private isCandidate = false;
  private applyForLeadership: (() => Promise<void>) | undefined;

  private constructor() {
    this.primary = new Channel<WorkerVerbs, PrimaryVerbs>(toPrimary, {
      apply: () => this.apply(),
      stop: () => this.orders.stop(),
      leaveSeat: () => this.orders.leaveSeat(),
      end: () => this.orders.end(),
      metrics: () => this.counted(),
      beat: () => undefined,
    });
  }

  /** Takes the seat that the primary has for this process. */
  static async join(): Promise<Membership> {
    const membership = new Membership();
    membership.joined = await membership.primary.ask('join');
    membership.isCandidate ||= membership.joined.isCandidate;
    return membership;
  }

  get seat(): Seat {
    return this.joining.seat;
  }

  /** The files that the configuration names, as the primary has read them. */
  get files(): FileRecord {
    return new FileRecord(this.joining.files);
  }

  /** Of an instance's workers one is a candidate for the leadership; when it is gone, another (D123). */
  readonly appointment: Appointment = async (apply) => {
    this.applyForLeadership = apply;
    if (this.isCandidate) await apply();
  };

  /** Whatever the primary orders from now on. */
  obey(orders: Orders): void {
    this.orders = orders;
  }

  tellMetrics(counted: () => Promise<MetricsSnapshot>): void {
    this.counted = counted;
  }

  gatherMetrics(): Promise<readonly MetricsSnapshot[]> {
    return this.primary.ask('gatherMetrics');
  }

  logWritten(bytes: number): Promise<void> {
    return this.primary.ask('logWritten', bytes);
  }

  async ready(summary: object): Promise<void> {
    await this.primary.ask('ready', summary);
  }

  /** What was counted stays with the instance. */
  async leave(counted: MetricsSnapshot): Promise<void> {
    await this.primary.ask('leave', counted);
  }

  private async apply(): Promise<void> {
    this.isCandidate = true;
    await this.applyForLeadership?.();
  }

  private get joining(): Joining {
    if (this.joined === undefined) throw new Error('a worker has not taken its seat');
    return this.joined;
  }
}

/** A message that cannot be sent is for nobody: the primary is gone, with which its workers end. */
const toPrimary = {
  send: (message: object) => process.send?.(message, undefined, undefined, () => undefined),
  receive: (onMessage: (message: unknown) => void) => {
    process.on('message', onMessage);
    // Before Node.js exits by itself, which may wait for its own threads for ever. Nobody reads our last lines any more.
    process.prependOnceListener('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  },
};
