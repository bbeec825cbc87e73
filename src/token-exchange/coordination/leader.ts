// Tells whether this process is the one of several that does the periodic work.

/** The lease of who leads, as the database knows it. */
export interface HeldLease {
  /** Grows whenever the leadership is taken or given up. */
  readonly epoch: string;
  /** The process that has it: a UUID. */
  readonly candidate: string;
}

/** Under it nothing is changed: epochs begin with 1. */
export const NO_EPOCH = '0';

/** Asked by periodic work before each run, and within a long run before each batch. */
export abstract class Leader {
  /**
   * Whether this process may do the leader's work at this moment. Never remembered by the caller: a process that
   * was stopped, or cut off from the database, finds `false` here when it goes on.
   */
  abstract readonly isLeader: boolean;
  /**
   * What the leader's statements are bound to; its epoch is `NO_EPOCH` while another leads. Undefined where it is not the lease
   * of this package that decides: then nothing holds back a statement of a leader that was replaced meanwhile.
   */
  get lease(): HeldLease | undefined {
    return undefined;
  }

  /** Ends the candidacy and gives the leadership up. Work in progress should have ended before. */
  abstract stop(): Promise<void>;
}

/** The embedded database belongs to one process (D46), which is the leader. */
export class SoleLeader extends Leader {
  readonly isLeader = true;

  async stop(): Promise<void> {
    // There is nobody to hand over to.
  }
}
