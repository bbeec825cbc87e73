// Announcements that all get lost: what a follower learns then, it learns by looking.
import { Notifications } from '../../src/platform/jobs/notifications.js';

class DeafNotifications extends Notifications {
  readonly hasOtherProcesses = true;

  listen() {
    return { end: () => Promise.resolve() };
  }
}

export const DEAF = new DeafNotifications();
