// Where events are kept for good.
import type { Transaction } from '../../platform/database/transaction.js';
import type { AuditEvent } from './audit-event.js';

/** The durable record of events. */
export abstract class AuditTrail {
  /**
   * Keeps the events of one request, all or none.
   * @param transaction of the work that they tell about: they are kept if it commits. Without it they stand for themselves
   */
  abstract append(events: readonly AuditEvent[], transaction?: Transaction): Promise<void>;
}
