// Tells the rest of the process what has happened, after it has been committed.
import { Inject, Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Logger } from 'pino';
import type { Transaction } from '../database/transaction.js';
import { LOGGER } from '../logging/logger.js';
import type { AuditEvent } from './audit-event.js';
import { AuditTrailRepository } from './audit-trail.repository.js';

/** Writes events down with the work that they tell about, and publishes them on the event emitter afterwards. */
@Injectable()
export class AuditBus {
  constructor(
    private readonly trail: AuditTrailRepository,
    private readonly emitter: EventEmitter2,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Writes events in the transaction of the work; they are published by `publish`, after its commit. */
  record(transaction: Transaction, events: readonly AuditEvent[]): Promise<void> {
    return this.trail.append(events, transaction);
  }

  /** Hands committed events to the listeners of their names. A listener's fault is logged and reaches nobody else. */
  publish(events: readonly AuditEvent[]): void {
    for (const event of events) {
      try {
        this.emitter.emit(event.name, event);
      } catch (error) {
        this.logger.error({ err: error, event: event.name }, 'an audit listener failed');
      }
    }
  }

  /** Writes and publishes events that stand for themselves: there is no other work that they must be written with. */
  async tell(events: readonly AuditEvent[]): Promise<void> {
    await this.trail.append(events);
    this.publish(events);
  }
}
