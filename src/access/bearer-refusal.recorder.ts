// Records refused Bearer credentials: in the log, in the trail, and as a metric.
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { Metrics } from '../metrics/metrics.js';
import { Clock } from '../platform/clock.js';
import { DatabaseOutages } from '../platform/http/database-outages.js';
import {
  clientOf,
  counterKey,
  isOver,
  isOverOfStrangers,
  MemoryCounts,
} from '../platform/http/throttle/rate-limit.js';
import { LOGGER } from '../platform/log/log.js';
import type { AccessTokenRefusal, AuditEvent } from '../token-exchange/instance.js';
import { AuditBus, auditEvent, bearerLine } from '../token-exchange/instance.js';

/** How long a response waits for the record, which a slow database may delay. */
const RECORD_MS = 1_000;

interface RefusedCall {
  readonly requestId: string;
  /** The client's address, according to the server's proxy settings. */
  readonly ip: string;
  readonly method: string;
  readonly route: string;
}

@Injectable()
export class BearerRefusalRecorder {
  constructor(
    private readonly audit: AuditBus,
    private readonly clock: Clock,
    private readonly counts: MemoryCounts,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: Metrics,
    private readonly outages: DatabaseOutages,
  ) {}

  /**
   * Records a refusal, unless there were many of its kind, because unauthenticated clients can cause them.
   * Refusals of a token that this instance signed are counted per token, so that a stranger cannot keep its
   * use out of the trail. Metrics count all refusals. Never rejects and hardly waits, because the response
   * does not depend on it.
   */
  async record(refusal: AccessTokenRefusal, call: RefusedCall): Promise<void> {
    this.metrics.apiRefusals.inc({ reason: refusal.reason });
    // Expected: this is how a client learns the nonce.
    if (refusal.reason === 'dpop_nonce_required') return;
    if (this.isTooMuch(refusal, call)) return;
    const event = this.eventOf(refusal, call);
    await Promise.race([this.publish(event), pause(RECORD_MS, undefined, { ref: false })]);
    const { name, requestId, subjectUserId, actorUserId, payload } = event;
    const fields = { event: name, requestId, subjectUserId, actorUserId, payload };
    this.logger.warn(fields, bearerLine(refusal.reason, refusal));
  }

  private isTooMuch({ token }: AccessTokenRefusal, { ip }: RefusedCall): boolean {
    return token === undefined
      ? isOverOfStrangers(this.counts, 'api-refusals', clientOf(ip))
      : isOver(this.counts, counterKey('api-refusals-token', token.id));
  }

  private eventOf(
    { reason, detail, expected, found, token }: AccessTokenRefusal,
    { requestId, ip, method, route }: RefusedCall,
  ): AuditEvent<'svc.audit.api.refused'> {
    const { id: accessTokenId, subjectUserId, actorUserId } = token ?? {};
    const context = { occurredAt: this.clock.now(), requestId, subjectUserId, actorUserId };
    const clientAddress = clientOf(ip);
    const payload = { reason, detail, expected, found, method, route, accessTokenId, clientAddress };
    return auditEvent('svc.audit.api.refused', context, payload);
  }

  private async publish(event: AuditEvent): Promise<void> {
    try {
      await this.audit.record([event]);
    } catch (error) {
      if (this.outages.isUnrecorded(error)) return;
      const { requestId } = event;
      this.logger.error({ err: error, requestId }, 'a refused API call is not in the audit trail');
    }
  }
}
