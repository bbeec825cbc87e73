// Counts outcomes by listening to the audit events.
import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { AuditEvent } from '../token-exchange/audit/audit-event.js';
import { Metrics } from './metrics.js';

@Injectable()
export class AuditMetricsSink {
  constructor(private readonly metrics: Metrics) {}

  @OnEvent('svc.audit.token-exchange.succeeded')
  exchangeSucceeded(): void {
    this.metrics.exchanges.inc({ outcome: 'succeeded', reason: '' });
  }

  @OnEvent('svc.audit.token-exchange.failed')
  exchangeFailed({ payload }: AuditEvent<'svc.audit.token-exchange.failed'>): void {
    this.metrics.exchanges.inc({ outcome: 'failed', reason: payload.reason });
  }

  @OnEvent('svc.audit.token-exchange.embed-login')
  embedLoginSucceeded(): void {
    this.metrics.embedLogins.inc({ outcome: 'succeeded', reason: '' });
  }

  @OnEvent('svc.audit.token-exchange.embed-login-failed')
  embedLoginFailed({ payload }: AuditEvent<'svc.audit.token-exchange.embed-login-failed'>): void {
    this.metrics.embedLogins.inc({ outcome: 'failed', reason: payload.reason });
  }
}
