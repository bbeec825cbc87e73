// Passes announcements from one process to another through the database.

/** A subscription of `listen`. */
export interface Subscription {
  /** No further news; resolves when the connection is closed. */
  end(): Promise<void>;
}

/** The announcements of other processes. They may get lost, so a listener that must not miss one also polls. */
export abstract class Notifications {
  /** Whether other processes can write to the same database at all. */
  abstract readonly hasOtherProcesses: boolean;

  /**
   * Listens to a channel from now on, without delaying the caller.
   * @param onNews called after each announcement, and each time that a connection begins, for what was missed before
   */
  abstract listen(channel: string, onNews: () => void): Subscription;
}

/** The embedded database belongs to one process, so there is nothing to announce. */
export class SoleProcessNotifications extends Notifications {
  readonly hasOtherProcesses = false;

  listen(): Subscription {
    return { end: () => Promise.resolve() };
  }
}
