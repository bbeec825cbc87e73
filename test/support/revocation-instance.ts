// Makes the part of an instance that knows revocations, on a database that others write to as well.
import { EventEmitter2 } from '@nestjs/event-emitter';
import { AuditTrailRepository } from '../../src/audit/audit-trail.repository.js';
import { Clock } from '../../src/platform/clock.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import type { Notifications } from '../../src/platform/jobs/notifications.js';
import { SoleProcessNotifications } from '../../src/platform/jobs/notifications.js';
import type { Log } from '../../src/platform/log/log.js';
import { SILENT } from '../../src/platform/log/log.js';
import { AuditBus } from '../../src/token-exchange/audit/audit-trail.js';
import { RevocationFollower } from '../../src/token-exchange/revocation/revocation.follower.js';
import { RevocationRepository } from '../../src/token-exchange/revocation/revocation.repository.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { Revocations } from '../../src/token-exchange/revocation/revocations.js';

export class RevocationInstance {
  readonly known = new Revocations();
  readonly repository: RevocationRepository;
  readonly service: RevocationService;
  readonly transactions: Transactions;
  private readonly follower: RevocationFollower;

  constructor(
    { dataSource }: OpenDatabase,
    notifications: Notifications = new SoleProcessNotifications(),
    log: Log = SILENT,
  ) {
    const database = new Database(dataSource);
    const clock = new Clock();
    this.transactions = new Transactions(database);
    this.repository = new RevocationRepository(database);
    this.follower = new RevocationFollower(this.repository, this.known, notifications, clock, log);
    const trail = new AuditTrailRepository(database);
    const audit = new AuditBus(trail, this.transactions, new EventEmitter2(), SILENT);
    this.service = new RevocationService(this.repository, this.follower, audit, clock);
  }

  start(): Promise<void> {
    return this.follower.onModuleInit();
  }

  stop(): Promise<void> {
    return this.follower.beforeApplicationShutdown();
  }
}
