// Tells one process what another has announced through the database.

/** What `listen` has begun. */
export interface Subscription {
  /** No further news; resolves when the connection is closed. */
  end(): Promise<void>;
}

/** The announcements of other processes. They may get lost: whoever must not miss one looks for itself now and then. */
export abstract class Notifications {
  /** Whether other processes can write to the same database at all. */
  abstract readonly hasOtherProcesses: boolean;

  /**
   * Listens to a channel from now on, without delaying the caller.
   * @param onNews called after each announcement, and each time that a connection begins, for what was missed before
   */
  abstract listen(channel: string, onNews: () => void): Subscription;
}

/** The embedded database belongs to one process: there is nobody who could announce anything. */
export class SoleProcessNotifications extends Notifications {
  readonly hasOtherProcesses = false;

  listen(): Subscription {
    return { end: () => Promise.resolve() };
  }
}
