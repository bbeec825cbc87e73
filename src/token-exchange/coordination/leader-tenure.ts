// How long a leader may believe that it still leads, without asking anybody.
import { LEASE_MS } from './leader-lease.repository.js';

/** Allowance for clocks of this machine and the database's that do not run equally fast. */
const MARGIN_MS = 1_000;
const BELIEF_MS = LEASE_MS - MARGIN_MS;

/** A moment on both clocks of this machine. */
export interface Moment {
  /** Never set, but it stands still while the machine is suspended. */
  readonly monotonicMs: number;
  /** Goes on while the machine is suspended, but it may be set. */
  readonly wallMs: number;
}

/** One period of leadership, from the taking of the lease until it is given up or lost. */
export class LeaderTenure {
  /**
   * @param epoch the lease's epoch
   * @param askedAt when the statement that took the lease was sent: the lease runs at least from then
   */
  constructor(
    readonly epoch: string,
    private askedAt: Moment,
    /** Whether the advisory lock is held too; a fenced-off session may still have it for a while. */
    public holdsLock: boolean,
  ) {}

  /** Records a confirmed renewal. `askedAt` is the moment before it was sent, never that of the answer. */
  renewed(askedAt: Moment): void {
    this.askedAt = askedAt;
  }

  /**
   * Whether nobody else can have the lease yet. The clock that shows more time since the last renewal decides, so that
   * neither a suspended machine nor a clock that is set back prolongs the belief.
   */
  isCertain(now: Moment): boolean {
    const monotonicMs = now.monotonicMs - this.askedAt.monotonicMs;
    const wallMs = now.wallMs - this.askedAt.wallMs;
    return Math.max(monotonicMs, wallMs) < BELIEF_MS;
  }
}
