// Keeps events for good.
import type { Transaction } from '../../platform/database/transaction.js';
import type { ExternalPerson } from '../refusals/rejection.js';
import type { AuditEvent } from './audit-event.js';

/** The person of a refused token with a valid signature, and which of the two tokens it is. */
export interface RefusedPerson extends ExternalPerson {
  readonly isActor: boolean;
}

/** The durable record of events. */
export abstract class AuditTrail {
  /**
   * Keeps the events of one request, all or none.
   * @param transaction of their work: they are kept if it commits. Without it they stand for themselves
   */
  abstract append(events: readonly AuditEvent[], transaction?: Transaction): Promise<void>;

  /**
   * Keeps the event of a refusal. The tables of this repository store the linked user's id with it, found by the same statement.
   * @param _person personal data: not to be stored as it is
   */
  appendRefusal(event: AuditEvent, _person: RefusedPerson): Promise<void> {
    return this.append([event]);
  }
}
