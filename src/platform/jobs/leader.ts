// Says whether this process is the one of several that does the periodic work.

/** Asked by periodic work before each run, and within a long run before each batch. */
export abstract class Leader {
  /**
   * Whether this process may do the leader's work at this moment. Never remembered by the caller: a process that
   * was stopped, or cut off from the database, finds `false` here when it goes on.
   */
  abstract readonly isLeader: boolean;

  /** Ends the candidacy and gives the leadership up. Work in progress should have ended before. */
  abstract stop(): Promise<void>;
}

/** Leads always: on the embedded database, which belongs to one process (D46), and for work that every process does. */
export class AlwaysLeader extends Leader {
  readonly isLeader = true;

  async stop(): Promise<void> {
    // There is no other process to hand over to.
  }
}
