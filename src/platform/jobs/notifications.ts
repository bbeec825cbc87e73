// Passes notifications between processes through the database. Hosts without pg's types reach this file, so its implementation is apart.

export interface Subscription {
  /** Stops the notifications. Resolves when the connection is closed. */
  end(): Promise<void>;
}

/** Notifications from other processes. They may get lost, so a listener that must not miss one also polls. */
export abstract class Notifications {
  /** Whether other processes can write to the same database. */
  abstract readonly hasOtherProcesses: boolean;

  /**
   * Starts to listen to a channel, without delaying the caller.
   * @param onNews called after each notification, and whenever a connection begins, because earlier ones may
   * be lost
   */
  abstract listen(channel: string, onNews: () => void): Subscription;
}

/** The embedded database belongs to one process, so there are no notifications. */
export class SoleProcessNotifications extends Notifications {
  readonly hasOtherProcesses = false;

  listen(): Subscription {
    return { end: () => Promise.resolve() };
  }
}
