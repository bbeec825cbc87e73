// Says whether this process is the one of several that does the periodic work.

/** Asked by periodic work before each run, and within a long run before each batch. */
export abstract class Leader {
  /**
   * Whether this process may do the leader's work at this moment. Never remembered by the caller: a process that
   * was stopped, or cut off from the database, finds `false` here when it goes on.
   */
  abstract readonly isLeader: boolean;
}

/** Leads always: on the embedded database, which belongs to one process (D46), and for work that every process does. */
export class AlwaysLeader extends Leader {
  readonly isLeader = true;
}
