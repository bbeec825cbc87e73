// Tells whether this process is the one that runs the periodic jobs. Hosts without pg's types reach this file, so its implementation is apart.

/** Periodic jobs check it before each run, and long runs before each batch. */
export abstract class Leader {
  /**
   * Whether this process may do the leader's work now. Callers must not remember it: a process that was
   * stopped, or cut off from the database, reads `false` when it continues.
   */
  abstract readonly isLeader: boolean;
}

/**
 * Always the leader: for the embedded database, which belongs to one process (D46), and for jobs that every
 * process runs.
 */
export class AlwaysLeader extends Leader {
  readonly isLeader = true;
}
