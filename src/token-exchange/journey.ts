// The part of a token's journey that both flows share: timing of its stages, and the audit events of its end.
import { Injectable } from '@nestjs/common';
import { AuditBus } from '../audit/audit.bus.js';
import type { AuditContext, AuditEvent } from '../audit/audit-event.js';
import { auditEvent } from '../audit/audit-event.js';
import type { Flow, Stage } from './host.js';
import { ExchangeTelemetry } from './host.js';
import type { ResolvedUser } from './identity/identity.service.js';
import { Rejection } from './rejection.js';
import type { VerifiedToken } from './verification/external-token.verifier.js';

const FAILURE_EVENTS = {
  exchange: 'svc.audit.token-exchange.failed',
  embed: 'svc.audit.token-exchange.embed-login-failed',
} as const;

@Injectable()
export class Journey {
  constructor(
    private readonly audit: AuditBus,
    private readonly telemetry: ExchangeTelemetry,
  ) {}

  /** Runs one stage and observes how long it took, also when it failed. */
  async timed<T>(flow: Flow, stage: Stage, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.telemetry.observeStage(flow, stage, (performance.now() - startedAt) / 1000);
    }
  }

  /** Runs a flow; what ends it is written to the audit trail with its true cause, then thrown on. */
  async audited<T>(flow: Flow, requestId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Rejection) await this.tellFailure(flow, requestId, error);
      else await this.tellFault(flow, requestId);
      throw error;
    }
  }

  private tellFailure(flow: Flow, requestId: string, { reason, context }: Rejection): Promise<void> {
    return this.audit.tell([auditEvent(FAILURE_EVENTS[flow], { requestId }, { reason, ...context })]);
  }

  /** What the fault was stands in the log. The database may be the cause, so the trail may be out of reach as well. */
  private async tellFault(flow: Flow, requestId: string): Promise<void> {
    const event = auditEvent(FAILURE_EVENTS[flow], { requestId }, { reason: 'internal_error' });
    await this.audit.tell([event]).catch(() => this.telemetry.countUnrecordedFailure(flow));
  }
}

/** The audit events of what resolving a token changed. */
export function identityEvents(
  context: AuditContext,
  token: VerifiedToken,
  resolved: ResolvedUser,
): AuditEvent[] {
  const { issuer } = token.key.policy;
  return resolved.changes.map((change) => {
    switch (change.kind) {
      case 'user-provisioned':
        return auditEvent('svc.audit.token-exchange.user-provisioned', context, {
          issuer,
          userId: change.userId,
          role: change.role,
        });
      case 'identity-linked':
        return auditEvent('svc.audit.token-exchange.identity-linked', context, {
          issuer,
          userId: change.userId,
        });
      case 'role-updated':
        return auditEvent('svc.audit.token-exchange.role-updated', context, {
          issuer,
          userId: change.userId,
          from: change.from,
          to: change.to,
        });
    }
  });
}
