// The port to sessions, on this instance's browser sessions.
import { Injectable } from '@nestjs/common';
import { SessionService } from '../access/session.service.js';
import type { Transaction } from '../database/transaction.js';
import type { OpenedSession, SessionLogin } from '../token-exchange/host.js';
import { SessionOpener } from '../token-exchange/host.js';

@Injectable()
export class InstanceSessions extends SessionOpener {
  constructor(private readonly sessions: SessionService) {
    super();
  }

  open(transaction: Transaction, login: SessionLogin): Promise<OpenedSession> {
    return this.sessions.open(transaction, login);
  }
}
