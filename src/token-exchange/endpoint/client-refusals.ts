// Records that a client was refused at an endpoint beside those of the flows: it has credentials of its own, or a proof.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { isOverOfStrangers, MemoryCounts } from '../../platform/http/throttle/counting.storage.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { AuditBus, auditEvent } from '../audit/audit.bus.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import { tokenRefusalLine } from '../refusals/refusal-line.js';
import type { RefusedToken } from '../refusals/oauth-refusal.js';
import type { FlowRequest } from './flow-request.js';
import { OTHER_WORK } from './flows.js';

/** The request that is refused. */
export type Source = Pick<FlowRequest, 'requestId' | 'clientAddress'>;

@Injectable()
export class ClientRefusals {
  constructor(
    private readonly audit: AuditBus,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    private readonly counts: MemoryCounts,
    private readonly telemetry: ExchangeTelemetry,
  ) {}

  /** Strangers can cause them: log and trail have some of each address, and metrics count all (D79). */
  async record(
    flow: keyof typeof OTHER_WORK,
    { reason, context, isOfStranger }: RefusedToken,
    { requestId, clientAddress }: Source,
  ): Promise<void> {
    this.telemetry.countRefusal(flow, reason);
    // A partner's question and a transmitter's event have a valid signature, and the limit of their address bounds them.
    const isBounded = (flow === 'explain' || flow === 'signals') && !isOfStranger;
    if (!isBounded && isOverOfStrangers(this.counts, 'client refusals', clientAddress)) return;
    const { work, failureEvent: name } = OTHER_WORK[flow];
    const { issuer, kid, clientId, detail, expected, found } = context;
    const payload = { issuer, kid, reason, clientId, detail, expected, found, clientAddress };
    try {
      await this.audit.record([auditEvent(name, { occurredAt: this.clock.now(), requestId }, payload)]);
    } finally {
      this.logger.warn({ event: name, requestId, payload }, tokenRefusalLine(work, reason, context));
    }
  }
}
