// A candidate for the leadership only once its process is appointed: of several workers one applies for their instance.
import type { HeldLease } from '../token-exchange/coordination/leader.js';
import { Leader, NO_EPOCH } from '../token-exchange/coordination/leader.js';

/** Of a process that has never applied: no candidate has it. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** A leader that can be told to apply. */
interface Candidate extends Leader {
  start(): Promise<void>;
}

export class AppointedLeader extends Leader {
  private candidate: Candidate | undefined;
  private isStopped = false;

  constructor(private readonly makeCandidate: () => Candidate) {
    super();
  }

  /** Resolves after the first attempt. Told again, or after the stop, it does nothing. */
  async appoint(): Promise<void> {
    if (this.isStopped || this.candidate !== undefined) return;
    this.candidate = this.makeCandidate();
    await this.candidate.start();
  }

  get isLeader(): boolean {
    return this.candidate?.isLeader ?? false;
  }

  override get lease(): HeldLease {
    return this.candidate?.lease ?? { epoch: NO_EPOCH, candidate: NOBODY };
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.candidate?.stop();
  }
}
