// Binds the ports of token-exchange/ to this instance's users, sessions, access tokens and metrics.
import { Injectable, Module } from '@nestjs/common';
import { AccessTokenService } from './access/access-token.service.js';
import { SessionService } from './access/session.service.js';
import type { Transaction } from './database/transaction.js';
import { Metrics } from './metrics/metrics.js';
import type {
  AccessTokenGrant,
  Flow,
  HostUser,
  HostUserUpdate,
  IssuedAccessToken,
  KeysHeld,
  NewHostUser,
  OpenedSession,
  SessionLogin,
  Stage,
} from './token-exchange/host.js';
import {
  AccessTokenIssuer,
  ExchangeTelemetry,
  SessionOpener,
  Settlements,
  UserDirectory,
} from './token-exchange/host.js';
import { SettlementRepository } from './settlement.repository.js';
import { isGlobalRole } from './users/role.js';
import type { GlobalRole } from './users/role.js';
import { UserRepository } from './users/user.repository.js';
import { UserService } from './users/user.service.js';

@Injectable()
class InstanceUsers extends UserDirectory {
  constructor(
    private readonly repository: UserRepository,
    private readonly users: UserService,
  ) {
    super();
  }

  findById(transaction: Transaction, id: string): Promise<HostUser | undefined> {
    return this.repository.findById(id, transaction);
  }

  findByEmail(transaction: Transaction, email: string): Promise<HostUser | undefined> {
    return this.repository.findByEmail(email, transaction);
  }

  create(transaction: Transaction, user: NewHostUser): Promise<HostUser | undefined> {
    return this.users.create(transaction, { ...user, role: globalRole(user.role) });
  }

  lock(transaction: Transaction, id: string): Promise<HostUser | undefined> {
    return this.repository.lock(id, transaction);
  }

  update(transaction: Transaction, id: string, { role, ...names }: HostUserUpdate): Promise<void> {
    const change = role === undefined ? names : { ...names, role: globalRole(role) };
    return this.repository.update(id, change, transaction);
  }
}

@Injectable()
class InstanceSessions extends SessionOpener {
  constructor(private readonly sessions: SessionService) {
    super();
  }

  open(transaction: Transaction, login: SessionLogin): Promise<OpenedSession> {
    return this.sessions.open(transaction, login);
  }
}

@Injectable()
class InstanceAccessTokens extends AccessTokenIssuer {
  constructor(private readonly accessTokens: AccessTokenService) {
    super();
  }

  async issue(grant: AccessTokenGrant): Promise<IssuedAccessToken> {
    return this.accessTokens.issue(grant);
  }
}

@Injectable()
class InstanceTelemetry extends ExchangeTelemetry {
  constructor(private readonly metrics: Metrics) {
    super();
  }

  observeStage(flow: Flow, stage: Stage, seconds: number): void {
    this.metrics.stageDuration.observe({ flow, stage }, seconds);
  }

  countUnrecordedFailure(flow: Flow): void {
    const outcomes = flow === 'exchange' ? this.metrics.exchanges : this.metrics.embedLogins;
    outcomes.inc({ outcome: 'failed', reason: 'internal_error' });
  }

  countThrottled(flow: Flow): void {
    this.metrics.throttled.inc({ flow });
  }

  watchKeys(read: () => readonly KeysHeld[]): void {
    this.metrics.watchKeys(read);
  }
}

/** The module assigns only roles that it was registered with, so another one is a fault of ours. */
function globalRole(role: string): GlobalRole {
  if (isGlobalRole(role)) return role;
  throw new Error('a role that this instance does not have was to be assigned');
}

const PORTS = [
  { provide: Settlements, useClass: SettlementRepository },
  { provide: UserDirectory, useClass: InstanceUsers },
  { provide: SessionOpener, useClass: InstanceSessions },
  { provide: AccessTokenIssuer, useClass: InstanceAccessTokens },
  { provide: ExchangeTelemetry, useClass: InstanceTelemetry },
];

@Module({ providers: PORTS, exports: PORTS.map(({ provide }) => provide) })
export class HostBindingsModule {}
